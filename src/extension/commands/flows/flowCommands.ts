import * as l10n from '@vscode/l10n';
import { isWaiting } from '../../../jobs/ledger/record.ts';
import { readFlowTarget } from '../../flows/documents/flowTarget.ts';
import { type Commands, readDocument, withArgument } from '../command.ts';
import { jobCommand } from '../jobs/jobCommand.ts';

export const flowCommands = {
  'farwharf.answerJob': jobCommand({
    title: l10n.t('Answer Job'),
    only: { fits: isWaiting, none: l10n.t('No job waits for an answer.') },
    run: ({ flows }, record) => flows().jobAnswers.ask(record),
  }),
  'farwharf.newFlow': ({ flows }) => flows().create(),
  'farwharf.setUpTypes': ({ flows }) => flows().setUpTypes(),
  'farwharf.openCanvas': withArgument(readFlowTarget, ({ flows }, target) => flows().openCanvas(target)),
  'farwharf.readFlowByRunning': withArgument(readFlowTarget, ({ flows }, target) => flows().readByRunning(target)),
  'farwharf.runFlow': withArgument(readFlowTarget, ({ flows }, target) => flows().starter.start(target, 'run')),
  'farwharf.debugFlow': withArgument(readFlowTarget, ({ flows }, target) => flows().starter.start(target, 'debug')),
  'farwharf.submitFlow': withArgument(readFlowTarget, ({ flows }, target) => flows().starter.startJob(target)),
  'farwharf.replayFlow': withArgument(readFlowTarget, ({ flows }, target) => flows().starter.replay(target)),
  'farwharf.stopFlow': ({ flows }) => flows().starter.stop(),
  'farwharf.openTrace': withArgument(readDocument, ({ flows }, uri) => flows().openTrace(uri)),
  'farwharf.openPrompts': withArgument(readFlowTarget, ({ flows }, target) => flows().prompts.open(target)),
  'farwharf.tryPrompt': withArgument(readDocument, ({ flows }, document) => flows().prompts.ask(document)),
  'farwharf.showFlowOutput': ({ flows }) => flows().runs.showOutput(),
} satisfies Commands;
