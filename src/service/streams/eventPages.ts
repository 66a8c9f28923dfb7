import type { EventTable, StoredEvent } from '../store/jobs/eventTable.ts';
import type { StoredJob } from '../store/jobs/jobTable.ts';
import { StreamChunk, deflatedChunk } from './streamChunk.ts';

// A stalled connection occupies one page, so this bounds the cost of a reader that stops reading.
const PAGE_LENGTH = 64 * 1024;
// Current pages are small and read by everyone at once; old pages are read by few.
const MAX_KEPT_BYTES = 8e6;
// The memory of a page in addition to its bytes, which is most of it for a page with one short event.
const PAGE_COST = 600;

/** Consecutive events of a job, encoded for the wire. */
export class EventPage {
  /** The ID of the last event. */
  readonly last: number;
  /** Whether the job's last event is included. */
  readonly isEnd: boolean;
  readonly plain: StreamChunk;
  #deflated: StreamChunk | undefined;

  constructor(events: readonly [StoredEvent, ...StoredEvent[]]) {
    const last = events.at(-1) ?? events[0];
    this.last = last.id;
    this.isEnd = last.type === 'end';
    this.plain = new StreamChunk(events.map(encodeEvent).join(''));
  }

  /** The page as a piece of any deflate stream. */
  get deflated(): StreamChunk {
    return (this.#deflated ??= deflatedChunk(this.plain));
  }
}

/** Pages of events, read from the store and encoded once for all readers at the same position. */
export class EventPages {
  readonly #source: Pick<EventTable, 'page'>;
  /** Oldest first. A page does not change, because later events are on later pages. */
  readonly #kept = new Map<string, EventPage>();
  #keptBytes = 0;

  constructor(source: Pick<EventTable, 'page'>) {
    this.#source = source;
  }

  /** The events of a job after `after`; undefined while there are none. */
  get(job: Pick<StoredJob, 'number'>, after: number): EventPage | undefined {
    const key = `${job.number} ${after}`;
    const kept = this.#kept.get(key);
    if (kept !== undefined) return kept;
    const [first, ...rest] = this.#source.page(job.number, after, PAGE_LENGTH);
    if (first === undefined) return undefined;
    const page = new EventPage([first, ...rest]);
    this.#kept.set(key, page);
    this.#keptBytes += costOf(page);
    for (const oldest of this.#kept.keys()) {
      if (this.#keptBytes <= MAX_KEPT_BYTES) break;
      this.#drop(oldest);
    }
    return page;
  }

  /** Drops the pages of a job whose old events were deleted. */
  forget(jobNumber: number): void {
    for (const key of this.#kept.keys()) if (key.startsWith(`${jobNumber} `)) this.#drop(key);
  }

  #drop(key: string): void {
    const page = this.#kept.get(key);
    if (page !== undefined) this.#keptBytes -= costOf(page);
    this.#kept.delete(key);
  }
}

/** The approximate memory of a page: its bytes, and at most as many compressed ones. */
function costOf({ plain }: EventPage): number {
  return PAGE_COST + 2 * plain.bytes.length;
}

function encodeEvent({ id, type, data }: StoredEvent): string {
  return `id: ${id}\nevent: ${type}\ndata: ${data}\n\n`;
}
