import { assertNever } from '../core/errors.ts';
import { plainText } from '../core/terminalText.ts';
import { describeStep } from '../flows/run/describeRun.ts';
import type { FlowProcessEvent } from '../flows/run/flowRun.ts';
import type { RunEvent } from '../flows/run/runEvent.ts';
import { RunTimeline } from '../flows/run/timeline.ts';
import type { Terminal } from './terminal.ts';

// A loop of thousands of visits would bury what the flow itself has to say.
const MAX_STEPS = 200;

/** Prints a run while it happens: its output on its own streams, a dim line for each step, and for programs JSON lines. */
export class FlowPrinter {
  readonly #terminal: Terminal;
  readonly #timelines = new Map<number, RunTimeline>();
  #steps = 0;

  constructor(terminal: Terminal) {
    this.#terminal = terminal;
  }

  print(event: FlowProcessEvent): Promise<void> | undefined {
    const terminal = this.#terminal;
    switch (event.type) {
      case 'output':
        if (terminal.isJson) terminal.json({ type: 'output', stream: event.stream, text: event.text });
        else terminal.output(event.stream, event.isWhole ? `${event.text}\n` : event.text);
        return terminal.drained();
      case 'run':
        terminal.json(event.event);
        if (!terminal.isJson) this.#tellStep(event.event);
        return terminal.drained();
      case 'note':
        terminal.json(event);
        terminal.note(plainText(`farwharf: ${event.message}`));
        return undefined;
      case 'started':
      case 'library':
      case 'debugger':
        terminal.json(event);
        return undefined;
      default:
        return assertNever(event);
    }
  }

  #tellStep(event: RunEvent): void {
    if (event.type === 'run-start') this.#timelines.set(event.run, new RunTimeline(event));
    const timeline = this.#timelines.get(event.run);
    timeline?.push(event);
    if (event.type === 'warning') this.#terminal.note(plainText(`farwharf: ${event.message}`));
    if (event.type !== 'node-end' && event.type !== 'error') return;
    const step = timeline?.steps.findLast(({ path, visit }) => path === event.path && visit === event.visit);
    if (step?.type !== 'node') return;
    this.#steps += 1;
    if (this.#steps <= MAX_STEPS) this.#terminal.phase(plainText(`  ${describeStep(step)}`).replaceAll('\n', ' '));
    if (this.#steps === MAX_STEPS) this.#terminal.phase('  … further steps are in the trace of the run');
  }
}
