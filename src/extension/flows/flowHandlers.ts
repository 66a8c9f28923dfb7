import type { CommandHandlers } from '../contributions/commands.ts';
import type { FlowCommandId } from '../contributions/names.ts';
import type { Flows } from './flows.ts';

/** The handlers of flow commands. */
export function createFlowHandlers(flows: () => Flows): Pick<CommandHandlers, FlowCommandId> {
  return {
    'farwharf.newFlow': () => flows().create(),
    'farwharf.openCanvas': (argument) => flows().openCanvas(argument),
    'farwharf.readFlowByRunning': (argument) => flows().readByRunning(argument),
    'farwharf.runFlow': (argument) => flows().starter.start(argument, 'run'),
    'farwharf.debugFlow': (argument) => flows().starter.start(argument, 'debug'),
    'farwharf.submitFlow': (argument) => flows().starter.startJob(argument),
    'farwharf.replayFlow': (argument) => flows().starter.replay(argument),
    'farwharf.stopFlow': () => flows().starter.stop(),
    'farwharf.openPrompts': (argument) => flows().prompts.open(argument),
    'farwharf.tryPrompt': (argument) => flows().prompts.ask(argument),
    'farwharf.showFlowOutput': () => flows().runs.showOutput(),
  };
}
