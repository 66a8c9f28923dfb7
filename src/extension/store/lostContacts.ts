import { Emitter } from '../../core/processes/lifetime.ts';

/** Why the state of a job is no longer known. */
export interface LostContact {
  /** `refused`: the service does not accept the API key. */
  readonly reason: 'unreachable' | 'refused';
  /** When the state was last known, in milliseconds. */
  readonly since: number;
}

/** The running jobs whose service cannot be asked, by the ID of their record. */
export class LostContacts {
  readonly #lost = new Map<string, LostContact>();
  readonly #changed = new Emitter<string>();
  /** Fired with the ID of the job. */
  readonly onDidChange = this.#changed.event;

  get(id: string): LostContact | undefined {
    return this.#lost.get(id);
  }

  set(id: string, reason: LostContact['reason'], now: number): void {
    const known = this.#lost.get(id);
    if (known?.reason === reason) return;
    this.#lost.set(id, { reason, since: known?.since ?? now });
    this.#changed.fire(id);
  }

  clear(id: string): void {
    if (this.#lost.delete(id)) this.#changed.fire(id);
  }
}
