import { assertNever } from '../../core/errors.ts';
import type { FlowProcessEvent } from '../../flows/run/protocol/runRequest.ts';
import { StepPrinter } from './stepPrinter.ts';
import type { Terminal } from './terminal.ts';

/** Prints a run live: its output on its own streams and a dim line for each step, or JSON lines. */
export function flowPrinter(terminal: Terminal): (event: FlowProcessEvent) => Promise<void> | undefined {
  const steps = new StepPrinter(terminal);
  return (event) => {
    switch (event.type) {
      case 'output':
        if (terminal.isJson) terminal.json({ type: 'output', stream: event.stream, text: event.text });
        else terminal.programOutput(event.stream, event.isWhole ? `${event.text}\n` : event.text);
        return terminal.stdio.drained();
      case 'run':
        if (!terminal.json(event.event)) steps.print(event.event);
        return terminal.stdio.drained();
      case 'note':
        terminal.json(event);
        terminal.note(`farwharf: ${event.message}`);
        return undefined;
      case 'missingKey': // the error of the flow says so
      case 'started':
      case 'library':
      case 'graph':
      case 'visited':
      case 'debugger':
        terminal.json(event);
        return undefined;
      default:
        return assertNever(event);
    }
  };
}
