import { type Disposable, Emitter } from '../../core/processes/lifetime.ts';

/** Holds large work back while the machine runs on battery. There is one for all open folders; what is small asks nobody. */
export class EnergyGate implements Disposable {
  readonly #changed = new Emitter<void>();
  readonly onDidChange = this.#changed.event;
  #isClosed = false;

  get isClosed(): boolean {
    return this.#isClosed;
  }

  set(isClosed: boolean): void {
    if (this.#isClosed === isClosed) return;
    this.#isClosed = isClosed;
    this.#changed.fire();
  }

  /** Waits until large work may go on, and tells while it waits. @throws the signal's reason on abort. */
  async pass(signal: AbortSignal, onHold: (isHeldBack: boolean) => void): Promise<void> {
    if (!this.#isClosed) return;
    onHold(true);
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const listener = this.onDidChange(resolve);
    signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
    try {
      await promise;
    } finally {
      listener.dispose();
      onHold(false);
    }
  }

  dispose(): void {
    this.#changed.dispose();
  }
}
