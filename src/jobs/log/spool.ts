import { type FSWatcher, watch } from 'node:fs';
import { type FileHandle, mkdir, open } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { ifThere, statIfThere } from '../../core/files/ifThere.ts';
import { fieldOf, textField } from '../../core/jsonFields.ts';

/** An event from the service, with its position in the spool and the time of its receipt. */
export interface SpooledEvent {
  /** Position in the file after this event, for `after`. Increases, but not consecutively. */
  readonly seq: number;
  /** When it was received, ISO 8601. */
  readonly at: string;
  readonly event: string;
  readonly data: unknown;
  /** The service's event ID, if it sends one. */
  readonly id?: string;
  /** Set for events from Farwharf itself: `phase`, `gap` and `truncated` with `{ text }`, or an `end` that the service did not send. */
  readonly own?: true;
}

export type NewEvent = Omit<SpooledEvent, 'seq' | 'at'>;

const MAX_BYTES = 256_000_000;
// How a script ended is at the end of its output.
const END_BYTES = 64 * 1024;
const READ_BYTES = 256 * 1024;
const TAIL_BYTES = 64 * 1024;
// File watching misses changes on network drives and in some containers, so it only shortens the polling delay.
const WATCHED_POLL_MS = 500;
const UNWATCHED_POLL_MS = 100;
const LINE_FEED = 10;
// Events that explain how a job ended, however long its log is.
const ALWAYS_KEPT: ReadonlySet<string> = new Set(['state', 'end', 'artifact']);

/**
 * The events of one job on disk: append-only, one JSON line each, readable by every process while one writes. An incomplete last line
 * after a crash is skipped. Above `maxBytes` (256 MB by default) a visible `truncated` event replaces further output, except for its last
 * 64 KB, which follow when the job ends.
 */
export class EventSpool {
  readonly path: string;
  readonly #maxBytes: number;
  #isTruncated: boolean | undefined;
  /** The last lines after the limit, and their length. */
  readonly #end = { lines: new Array<string>(), length: 0 };

  /** @param id the ledger's ID of the job. The first append creates the file. */
  constructor(home: string, id: string, options: { maxBytes?: number } = {}) {
    this.path = join(home, 'spool', `${id}.jsonl`);
    this.#maxBytes = options.maxBytes ?? MAX_BYTES;
  }

  /** Appends events with one write. */
  async append(events: readonly NewEvent[]): Promise<void> {
    if (events.length === 0) return;
    await mkdir(dirname(this.path), { recursive: true, mode: 0o700 });
    await using file = await open(this.path, 'a+', 0o600);
    const { size } = await file.stat();
    this.#isTruncated ??= (await this.tail()).some((event) => event.own === true && event.event === 'truncated');
    const at = new Date().toISOString();
    // An incomplete line after a crash is terminated first, so that only that line is lost.
    let text = size > 0 && (await byteAt(file, size - 1)) !== LINE_FEED ? '\n' : '';
    let bytes = size;
    for (const event of events) {
      const line = `${JSON.stringify({ at, ...event })}\n`;
      bytes += Buffer.byteLength(line);
      if (event.event === 'end') text += this.#takeEnd();
      if (ALWAYS_KEPT.has(event.event) || (!this.#isTruncated && bytes <= this.#maxBytes)) text += line;
      else if (!this.#isTruncated) {
        this.#isTruncated = true;
        text += `${JSON.stringify({ at, ...truncation(this.#maxBytes) })}\n`;
      } else this.#keepEnd(line);
    }
    await file.appendFile(text);
  }

  #keepEnd(line: string): void {
    this.#end.lines.push(line);
    this.#end.length += line.length;
    while (this.#end.length > END_BYTES) this.#end.length -= this.#end.lines.shift()?.length ?? END_BYTES;
  }

  #takeEnd(): string {
    this.#end.length = 0;
    return this.#end.lines.splice(0).join('');
  }

  /** Yields the events that are in the file now, after position `after`. */
  async *read(options: { after?: number; signal?: AbortSignal } = {}): AsyncGenerator<SpooledEvent, void> {
    const file = await ifThere(open(this.path, 'r'), undefined);
    if (file === undefined) return;
    try {
      let position = options.after ?? 0;
      let rest: Buffer = Buffer.alloc(0);
      for (;;) {
        options.signal?.throwIfAborted();
        const chunk = Buffer.allocUnsafe(READ_BYTES);
        const { bytesRead } = await file.read(chunk, 0, READ_BYTES, position + rest.length);
        if (bytesRead === 0) return;
        const bytes = Buffer.concat([rest, chunk.subarray(0, bytesRead)]);
        let start = 0;
        for (let end = bytes.indexOf(LINE_FEED, rest.length); end >= 0; end = bytes.indexOf(LINE_FEED, start)) {
          const event = parseLine(bytes.subarray(start, end), position + end + 1);
          start = end + 1;
          if (event !== undefined) yield event;
        }
        position += start;
        rest = bytes.subarray(start);
      }
    } finally {
      await file.close();
    }
  }

  /** Yields existing and new events, and returns after an `end` event. @throws the signal's reason on abort. */
  async *follow(options: { after?: number; signal: AbortSignal }): AsyncGenerator<SpooledEvent, void> {
    const { signal } = options;
    let after = options.after ?? 0;
    if (after > 0 && (await this.tail()).some(({ event, seq }) => event === 'end' && seq <= after)) return;
    for (;;) {
      signal.throwIfAborted();
      // Watching starts before reading; otherwise a line written in between would wait for the next poll.
      const change = this.#nextChange(signal);
      try {
        for await (const event of this.read({ after, signal })) {
          after = event.seq;
          yield event;
          if (event.event === 'end') return;
        }
        await change.promise;
      } finally {
        change.stop();
      }
    }
  }

  /** The last events, including at least one from the service if there is any, to continue from. */
  async tail(): Promise<SpooledEvent[]> {
    for (let window = TAIL_BYTES; ; window *= 8) {
      const size = await this.size();
      // A window that starts inside the file mostly starts with a partial line, which is skipped.
      const events = await Array.fromAsync(this.read({ after: Math.max(0, size - window) }));
      if (window >= size || events.some((event) => event.own !== true)) return events;
    }
  }

  /** Bytes on disk; 0 if there is no file yet. */
  async size(): Promise<number> {
    return (await statIfThere(this.path))?.size ?? 0;
  }

  #nextChange(signal: AbortSignal): { promise: Promise<void>; stop(): void } {
    const { promise, resolve } = Promise.withResolvers<void>();
    let watcher: FSWatcher | undefined;
    try {
      watcher = watch(this.path, { persistent: false }, () => resolve());
      watcher.on('error', () => {});
    } catch {
      // There is no file yet, or the file system cannot be watched; polling is enough.
    }
    const timer = setTimeout(resolve, watcher === undefined ? UNWATCHED_POLL_MS : WATCHED_POLL_MS);
    const onAbort = (): void => resolve();
    signal.addEventListener('abort', onAbort);
    const stop = (): void => {
      clearTimeout(timer);
      watcher?.close();
      signal.removeEventListener('abort', onAbort);
    };
    return { promise, stop };
  }
}

function truncation(maxBytes: number): NewEvent {
  const text = `The log is larger than ${Math.round(maxBytes / 1_000_000)} MB. Of the rest, only the end is stored here.`;
  return { event: 'truncated', data: { text }, own: true };
}

function parseLine(line: Buffer, seq: number): SpooledEvent | undefined {
  try {
    const value: unknown = JSON.parse(line.toString('utf8'));
    const [at, event, id] = ['at', 'event', 'id'].map((name) => textField(value, name));
    if (event === undefined || at === undefined) return undefined;
    const isOwn = fieldOf(value, 'own') === true;
    const data = fieldOf(value, 'data');
    return { seq, at, event, data, ...(id !== undefined && { id }), ...(isOwn && { own: true }) };
  } catch {
    return undefined;
  }
}

async function byteAt(file: FileHandle, position: number): Promise<number | undefined> {
  const { buffer } = await file.read(Buffer.alloc(1), 0, 1, position);
  return buffer[0];
}
