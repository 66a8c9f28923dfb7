import { formatCount, formatDuration } from '../../core/text/format.ts';
import { describeStep } from '../../flows/run/history/describeRun.ts';
import type { RunEvent } from '../../flows/run/protocol/runEvent.ts';
import { StepReducer } from '../../flows/run/protocol/timelineStep.ts';
import type { Terminal } from './terminal.ts';

const MAX_EMITTED = 500;
// A shorter wait is over before anyone has read about it.
const SHOWN_WAIT_MS = 2_000;
// A loop with thousands of visits would hide the flow's own output.
const MAX_STEPS = 200;

/** Prints a dim line for each step of a flow, and its warnings. */
export class StepPrinter {
  readonly #terminal: Pick<Terminal, 'note' | 'phase'>;
  readonly #running = new Map<number, StepReducer>();
  #steps = 0;

  constructor(terminal: Pick<Terminal, 'note' | 'phase'>) {
    this.#terminal = terminal;
  }

  print(event: RunEvent): void {
    if (event.type === 'run-start') this.#running.set(event.run, new StepReducer());
    if (event.type === 'run-end') this.#running.delete(event.run);
    if (event.type === 'run-start' || event.type === 'run-end') return;
    const reducer = this.#running.get(event.run);
    const step = reducer?.push(event);
    if (event.type === 'warning') this.#terminal.note(`farwharf: ${event.message}`);
    if (event.type === 'wait' && event.waitMs >= SHOWN_WAIT_MS) {
      const seconds = formatDuration(event.waitMs / 1000);
      this.#line(`${event.path}: the rate limit of ${event.model} is reached; trying again in ${seconds}`);
    }
    if (event.type === 'model-fallback')
      this.#line(`${event.path}: ${event.nextProvider} (${event.nextModel}) takes over, because ${event.message}`);
    if (event.type === 'history')
      this.#line(`${event.path}: ${formatCount(event.leftOut, 'message')} left out of the conversation`);
    if (event.type === 'call') this.#line(`${event.path}: calls ${event.name}`);
    if (event.type === 'emit') this.#line(`${event.path}: ${emittedText(event.data)}`);
    if (step === undefined || step.status === 'running') return;
    if (step.type === 'node' && step.status !== 'waiting') this.#line(describeStep(step));
    reducer?.forget(step);
  }

  #line(text: string): void {
    this.#steps += 1;
    if (this.#steps <= MAX_STEPS) this.#terminal.phase(`  ${text}`);
    if (this.#steps === MAX_STEPS) this.#terminal.phase('  … further steps are in the trace of the run');
  }
}

function emittedText(data: unknown): string {
  const text = typeof data === 'string' ? data : (JSON.stringify(data) ?? '');
  return text.length > MAX_EMITTED ? `${text.slice(0, MAX_EMITTED)}…` : text;
}
