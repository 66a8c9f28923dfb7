import { abortReason } from '../../core/errors.ts';
import { type Disposable, Emitter } from '../../core/processes/lifetime.ts';

/** Delays large work while the machine runs on battery. All open folders share one; small work does not use it. */
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

  /** Waits until large work may continue, and reports while it waits. @throws the signal's reason on abort. */
  async pass(signal: AbortSignal, onHold: (isHeldBack: boolean) => void): Promise<void> {
    if (!this.#isClosed) return;
    onHold(true);
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const listener = this.onDidChange(resolve);
    signal.addEventListener('abort', () => reject(abortReason(signal)), { once: true });
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
