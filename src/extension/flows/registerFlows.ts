import * as l10n from '@vscode/l10n';
import type { WindowParts } from '../contributions/parts.ts';
import { isWaiting } from '../../jobs/ledger/record.ts';
import { type Commands, readDocument } from '../contributions/commands.ts';
import { jobCommand, type JobFinder } from '../jobs/list/jobCommand.ts';
import { readFlowTarget } from './documents/flowTarget.ts';
import { Flows, type FlowsDeps } from './flows.ts';

interface FlowInputs extends Pick<WindowParts, 'parts'>, FlowsDeps {
  readonly jobs: FlowsDeps['jobs'] & JobFinder;
}

interface FlowFeature {
  /** Created on first use. */
  readonly flows: () => Flows;
  readonly commands: () => Promise<Commands<'flows'>>;
}

/** Reads, draws and runs the agent flows of the window's folders. */
export function registerFlows({ parts, ...deps }: FlowInputs): FlowFeature {
  const flows = parts.onFirstUse(() => new Flows(deps));
  return {
    flows,
    commands: async () => ({
      'farwharf.answerJob': jobCommand(deps.jobs, {
        title: l10n.t('Answer Job'),
        only: { fits: isWaiting, none: l10n.t('No job waits for an answer.') },
        run: (record) => flows().jobAnswers.ask(record),
      }),
      'farwharf.newFlow': () => flows().create(),
      'farwharf.setUpTypes': () => flows().setUpTypes(),
      'farwharf.openCanvas': (argument) => flows().openCanvas(readFlowTarget(argument)),
      'farwharf.readFlowByRunning': (argument) => flows().readByRunning(readFlowTarget(argument)),
      'farwharf.runFlow': (argument) => flows().starter.start(readFlowTarget(argument), 'run'),
      'farwharf.debugFlow': (argument) => flows().starter.start(readFlowTarget(argument), 'debug'),
      'farwharf.submitFlow': (argument) => flows().starter.startJob(readFlowTarget(argument)),
      'farwharf.replayFlow': (argument) => flows().starter.replay(readFlowTarget(argument)),
      'farwharf.stopFlow': () => flows().starter.stop(),
      'farwharf.openTrace': (argument) => flows().openTrace(readDocument(argument)),
      'farwharf.openPrompts': (argument) => flows().prompts.open(readFlowTarget(argument)),
      'farwharf.tryPrompt': (argument) => flows().prompts.ask(readDocument(argument)),
      'farwharf.showFlowOutput': () => flows().runs.showOutput(),
    }),
  };
}
