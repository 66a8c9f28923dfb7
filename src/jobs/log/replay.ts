import type { JobEvent } from '../../remote/protocol/schemas.ts';
import type { SpooledEvent } from './spool.ts';

/** `skip`: the event is already in the spool. `new`: store it. `gap`: store it, but events before it may be missing. */
export type ReplayVerdict = 'skip' | 'new' | 'gap';

/**
 * Decides, after a reconnection, which events repeat what is in the spool.
 *
 * A service may continue after `Last-Event-ID`, start again from the first event, or send only new events, so the first event decides. If
 * it equals the first one in the spool, the service has started again, and events are skipped as long as they match, in constant memory.
 * Otherwise IDs show that nothing is missing; without IDs that is unknown, and counts as a gap.
 */
export class ReplayFilter {
  readonly #spooled: AsyncIterator<SpooledEvent>;
  readonly #lastId: string | undefined;
  #state: 'first' | 'matching' | 'passing' = 'first';

  /** @param spooled the service's events in the spool, from the start. @param lastId the last event ID among them. */
  constructor(spooled: AsyncIterator<SpooledEvent>, lastId: string | undefined) {
    this.#spooled = spooled;
    this.#lastId = lastId;
  }

  async judge(event: JobEvent): Promise<ReplayVerdict> {
    if (this.#state === 'passing') return isUpTo(event.id, this.#lastId) ? 'skip' : 'new';
    const next = await this.#spooled.next();
    if (next.done === true) {
      // The whole spool has matched, or it was empty, so everything from here on is new.
      this.#state = 'passing';
      return 'new';
    }
    if (isSame(event, next.value)) {
      this.#state = 'matching';
      return 'skip';
    }
    const isContinued = this.#state === 'first' && this.#lastId !== undefined && event.id !== undefined;
    this.#state = 'passing';
    if (isUpTo(event.id, this.#lastId)) return 'skip';
    return isContinued ? 'new' : 'gap';
  }

  /** Closes the spool. */
  async dispose(): Promise<void> {
    await this.#spooled.return?.();
  }
}

function isSame(event: JobEvent, spooled: SpooledEvent): boolean {
  if (event.id !== spooled.id || event.event !== spooled.event) return false;
  return JSON.stringify(event.data) === JSON.stringify(spooled.data);
}

// Only numbers are ordered; other IDs are opaque.
function isUpTo(id: string | undefined, lastId: string | undefined): boolean {
  if (id === undefined || lastId === undefined) return false;
  return /^\d{1,15}$/.test(id) && /^\d{1,15}$/.test(lastId) && Number(id) <= Number(lastId);
}
