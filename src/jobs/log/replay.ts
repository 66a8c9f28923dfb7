import type { JobEvent } from '../../remote/protocol/schemas.ts';
import type { SpooledEvent } from './spool.ts';

/** `skip`: it is in the spool already. `new`: keep it. `gap`: keep it, but it is not known what came before it. */
export type ReplayVerdict = 'skip' | 'new' | 'gap';

/**
 * Tells, on a connection that was made anew, which events are a replay of what the spool holds.
 *
 * A service may go on where it was told to (`Last-Event-ID`), begin again, or send only what is new. So the first event
 * decides: when it equals the first one in the spool the service began again, and all that match in step are skipped, at
 * constant memory. Otherwise ids say that nothing is missing, and without ids nobody can know: a gap.
 */
export class ReplayFilter {
  readonly #spooled: AsyncIterator<SpooledEvent>;
  readonly #lastId: string | undefined;
  #state: 'first' | 'matching' | 'passing' = 'first';

  /** @param spooled the service's own events in the spool, from the start. @param lastId of the last one that has an id. */
  constructor(spooled: AsyncIterator<SpooledEvent>, lastId: string | undefined) {
    this.#spooled = spooled;
    this.#lastId = lastId;
  }

  async judge(event: JobEvent): Promise<ReplayVerdict> {
    if (this.#state === 'passing') return isUpTo(event.id, this.#lastId) ? 'skip' : 'new';
    const next = await this.#spooled.next();
    if (next.done === true) {
      // All of the spool was matched, or it was empty: what comes now is new.
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

  /** Lets go of the spool. */
  async dispose(): Promise<void> {
    await this.#spooled.return?.();
  }
}

function isSame(event: JobEvent, spooled: SpooledEvent): boolean {
  if (event.id !== spooled.id || event.event !== spooled.event) return false;
  return JSON.stringify(event.data) === JSON.stringify(spooled.data);
}

// Only numbers have an order; other ids are opaque.
function isUpTo(id: string | undefined, lastId: string | undefined): boolean {
  if (id === undefined || lastId === undefined) return false;
  return /^\d{1,15}$/.test(id) && /^\d{1,15}$/.test(lastId) && Number(id) <= Number(lastId);
}
