import type { ServerSentEvent } from '../protocol/schemas.ts';

/** `skip`: the event was received before. `new`: store it. `gap`: store it, but events before it may be missing. */
export type ReplayVerdict = 'skip' | 'new' | 'gap';

/**
 * Decides, after a reconnection, which events repeat what was received before.
 *
 * A service may continue after `Last-Event-ID`, start again from the first event, or send only new events, so the first event decides. If
 * it equals the first one before, the service has started again, and events are skipped as long as they match, in constant memory.
 * Otherwise IDs show that nothing is missing; without IDs that is unknown, and counts as a gap.
 */
export class ReplayFilter<Earlier = ServerSentEvent> {
  readonly #earlier: AsyncIterator<Earlier>;
  readonly #isSame: (event: ServerSentEvent, earlier: Earlier) => boolean;
  readonly #lastId: string | undefined;
  #state: 'first' | 'matching' | 'passing' = 'first';

  /**
   * @param earlier the service's events before, from the start, or something by which `isSame` recognizes them.
   * @param lastId the last event ID among them.
   */
  constructor(
    earlier: AsyncIterator<Earlier>,
    lastId: string | undefined,
    isSame: (event: ServerSentEvent, earlier: Earlier) => boolean,
  ) {
    this.#earlier = earlier;
    this.#lastId = lastId;
    this.#isSame = isSame;
  }

  async judge(event: ServerSentEvent): Promise<ReplayVerdict> {
    if (this.#state === 'passing') return isUpTo(event.id, this.#lastId) ? 'skip' : 'new';
    const next = await this.#earlier.next();
    if (next.done === true) {
      // All of them have matched, or there were none, so everything from here on is new.
      this.#state = 'passing';
      return 'new';
    }
    if (this.#isSame(event, next.value)) {
      this.#state = 'matching';
      return 'skip';
    }
    const isContinued = this.#state === 'first' && this.#lastId !== undefined && event.id !== undefined;
    this.#state = 'passing';
    if (isUpTo(event.id, this.#lastId)) return 'skip';
    return isContinued ? 'new' : 'gap';
  }

  /** Closes the source of the earlier events. */
  async dispose(): Promise<void> {
    await this.#earlier.return?.();
  }
}

/** Whether two events are the same. */
export function isSameEvent(event: ServerSentEvent, earlier: ServerSentEvent): boolean {
  if (event.id !== earlier.id || event.event !== earlier.event) return false;
  return JSON.stringify(event.data) === JSON.stringify(earlier.data);
}

// Only numbers are ordered; other IDs are opaque.
function isUpTo(id: string | undefined, lastId: string | undefined): boolean {
  if (id === undefined || lastId === undefined) return false;
  return /^\d{1,15}$/.test(id) && /^\d{1,15}$/.test(lastId) && Number(id) <= Number(lastId);
}
