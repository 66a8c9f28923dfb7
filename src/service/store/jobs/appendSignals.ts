import { type Disposable, Emitter } from '../../../core/processes/lifetime.ts';

/** Signals new events by job, so that a job's events wake only its own readers. */
export class AppendSignals implements Disposable {
  readonly #emitters = new Map<string, Emitter<number>>();

  /** Calls `listener` with the ID of the job's last event whenever some were added, until the result is disposed. */
  on(jobId: string, listener: (last: number) => void): Disposable {
    const emitter = this.#emitters.get(jobId) ?? new Emitter<number>();
    this.#emitters.set(jobId, emitter);
    const subscription = emitter.event(listener);
    return {
      dispose: () => {
        subscription.dispose();
        if (emitter.isEmpty && this.#emitters.get(jobId) === emitter) this.#emitters.delete(jobId);
      },
    };
  }

  fire(jobId: string, last: number): void {
    this.#emitters.get(jobId)?.fire(last);
  }

  dispose(): void {
    this.#emitters.clear();
  }
}
