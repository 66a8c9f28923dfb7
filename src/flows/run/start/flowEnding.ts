import type { FlowOutcome } from '../protocol/flowOutcome.ts';
import type { RunEvent } from '../protocol/runEvent.ts';
import type { FlowFailure } from '../protocol/flowOutcome.ts';
import type { ChildMessage } from '../protocol/runMessage.ts';
import { applyChanges } from '../protocol/stateChange.ts';
import type { StateView } from '../protocol/stateView.ts';

interface ProcessEnd {
  readonly code: number | null;
  readonly signal: string | null;
  readonly isStopped: boolean;
}

// Node's exit status for an unknown flag: very old versions exit with it before any code runs.
const INVALID_FLAG = 9;
const TOO_OLD = { name: 'AppError', message: 'Flows need Node 22.18 or newer, but an older one was used.' };

/** Determines how a flow ended from the messages of its process. */
export class FlowEnding {
  readonly #states = new Map<number, StateView>();
  #last: Pick<Extract<RunEvent, { type: 'run-end' }>, 'action' | 'error' | 'pause'> | undefined;
  #shared: StateView = null;
  #isReady = false;
  #refusal: FlowFailure | undefined;
  #thrown: FlowFailure | undefined;

  note(message: ChildMessage): void {
    if (message.type === 'ready') this.#isReady = true;
    if (message.type === 'events') for (const event of message.events) this.#noteEvent(event);
    if (message.type === 'refused') this.#refusal = message.error;
    if (message.type === 'threw') this.#thrown ??= message.error;
  }

  outcome({ code, signal, isStopped }: ProcessEnd): FlowOutcome {
    if (isStopped) return { type: 'stopped' };
    if (this.#refusal !== undefined) return { type: 'refused', error: this.#refusal };
    if (code === INVALID_FLAG && !this.#isReady) return { type: 'refused', error: TOO_OLD };
    const error = this.#last?.error ?? this.#thrown;
    const isUnderWay = this.#states.size > 0 || this.#last === undefined;
    if (isUnderWay && this.#thrown === undefined) {
      return signal === null ? { type: 'exited', code: code ?? 0 } : { type: 'killed', signal };
    }
    const pause = this.#last?.pause;
    if (pause !== undefined && this.#thrown === undefined) return { type: 'waiting', ...pause };
    if (error !== undefined) return { type: 'failed', error };
    return { type: 'done', action: this.#last?.action, shared: this.#shared, exitCode: code ?? 0 };
  }

  #noteEvent(event: RunEvent): void {
    if (event.type === 'run-start') this.#states.set(event.run, event.state);
    if (event.type === 'state') {
      this.#states.set(event.run, applyChanges(this.#states.get(event.run) ?? null, event.changes));
    }
    if (event.type !== 'run-end') return;
    this.#last = event;
    this.#shared = this.#states.get(event.run) ?? null;
    this.#states.delete(event.run);
  }
}
