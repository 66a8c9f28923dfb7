import { constants, deflateRawSync } from 'node:zlib';
import type { EventTable, StoredEvent } from '../store/jobs/events.ts';
import type { StoredJob } from '../store/jobs/jobs.ts';

// A stalled connection occupies one page, so this bounds the cost of a reader that stops reading.
const PAGE_LENGTH = 64 * 1024;
// Current pages are small and read by everyone at once; old pages are read by few.
const MAX_KEPT_BYTES = 8e6;
// The memory of a page in addition to its bytes, which is most of it for a page with one short event.
const PAGE_COST = 600;
const MIN_WINDOW_BITS = 9;
const MAX_WINDOW_BITS = 15;
// The most bytes that compression can add, for pieces of up to 64 KB.
const MAX_DEFLATE_OVERHEAD = 128;

/** Consecutive events of a job, encoded for the wire. */
export class EventPage {
  /** The ID of the last event. */
  readonly last: number;
  /** Whether the job's last event is included. */
  readonly isEnd: boolean;
  readonly bytes: Buffer;
  #deflated: Buffer | undefined;

  constructor(events: readonly [StoredEvent, ...StoredEvent[]]) {
    const last = events.at(-1) ?? events[0];
    this.last = last.id;
    this.isEnd = last.type === 'end';
    this.bytes = bytesOf(events.map(encodeEvent).join(''));
  }

  /** The page as a piece of any deflate stream. */
  get deflated(): Buffer {
    return (this.#deflated ??= deflatePiece(this.bytes));
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

/**
 * Compresses bytes so that the result can be inserted in any deflate stream: it refers to nothing before itself and ends at a byte
 * boundary (a sync flush, RFC 1951), so that a reader can decode all of it at once. Windows are no larger than the bytes.
 */
export function deflatePiece(bytes: Buffer): Buffer {
  const bits = Math.ceil(Math.log2(bytes.length + 1));
  const windowBits = Math.min(MAX_WINDOW_BITS, Math.max(MIN_WINDOW_BITS, bits));
  // The compressor's buffer is what stays in memory. By default that is 16 KB, even for a page with one short event.
  const chunkSize = bytes.length + MAX_DEFLATE_OVERHEAD;
  const memLevel = windowBits - 7;
  return deflateRawSync(bytes, { windowBits, memLevel, chunkSize, finishFlush: constants.Z_SYNC_FLUSH });
}

/** The bytes of a text in their own buffer: a slice of Node's pool would keep 64 KB in memory for a page of a few bytes. */
function bytesOf(text: string): Buffer {
  const bytes = Buffer.allocUnsafeSlow(Buffer.byteLength(text));
  bytes.write(text);
  return bytes;
}

/** The approximate memory of a page: its bytes, and at most as many compressed ones. */
function costOf({ bytes }: EventPage): number {
  return PAGE_COST + 2 * bytes.length;
}

function encodeEvent({ id, type, data }: StoredEvent): string {
  return `id: ${id}\nevent: ${type}\ndata: ${data}\n\n`;
}
