import type { ServerResponse } from 'node:http';
import { crc32 } from 'node:zlib';
import { GZIP_HEADER, gzipEnd } from '../../workspace/archive/gzipMember.ts';
import { deflatePiece, type EventPage } from './eventPages.ts';

const KEEP_ALIVE = Buffer.from(': keep-alive\n\n');
const DEFLATED_KEEP_ALIVE = deflatePiece(KEEP_ALIVE);

export interface ReaderOptions {
  /** The id of the last event that the client has. */
  readonly after: number;
  readonly isGzipped: boolean;
  /** Gives the page that follows an event: `wait` while there is none, `over` when there will never be one. */
  readonly next: (after: number) => EventPage | 'wait' | 'over';
  /** Tells of events that were written. */
  readonly onWritten: (events: number) => void;
}

/**
 * One connection that reads the events of a job. It holds no events: it asks for the next page when the connection has
 * taken the last, so a client that does not read costs one page at most.
 */
export class EventReader {
  readonly #outgoing: ServerResponse;
  readonly #options: ReaderOptions;
  #after: number;
  #isFull = false;
  #writtenAt = performance.now();
  // All that a gzip stream needs to know of its past, since its pieces are compressed apart: no window is kept for a reader.
  #crc = 0;
  #length = 0;

  constructor(outgoing: ServerResponse, options: ReaderOptions) {
    this.#outgoing = outgoing;
    this.#options = options;
    this.#after = options.after;
    outgoing.writeHead(200, {
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-store',
      'x-accel-buffering': 'no',
      ...(options.isGzipped ? { 'content-encoding': 'gzip', vary: 'accept-encoding' } : {}),
    });
    if (outgoing.req.method === 'HEAD') {
      outgoing.end();
      return;
    }
    outgoing.flushHeaders();
    if (options.isGzipped) outgoing.write(GZIP_HEADER);
    outgoing.on('drain', () => {
      this.#isFull = false;
      this.pump();
    });
  }

  /** Writes what there is for as long as the connection takes it, and ends with the job. */
  pump(): void {
    while (!this.#isFull && !this.#outgoing.writableEnded) {
      const page = this.#options.next(this.#after);
      if (page === 'wait') return;
      if (page === 'over') {
        this.end();
        return;
      }
      this.#after = page.last;
      this.#write(page.bytes, () => page.deflated);
      this.#options.onWritten(page.count);
      if (page.isEnd) this.end();
    }
  }

  end(): void {
    if (this.#outgoing.writableEnded) return;
    this.#outgoing.end(this.#options.isGzipped ? gzipEnd(this.#crc, this.#length) : undefined);
  }

  /** Shows that the connection lives when nothing was written for `quietMs`, and breaks off one that took nothing for `stalledMs`. */
  keepAlive({ quietMs, stalledMs }: { readonly quietMs: number; readonly stalledMs: number }): void {
    const silentMs = performance.now() - this.#writtenAt;
    if (this.#isFull) {
      if (silentMs >= stalledMs) this.#outgoing.destroy();
    } else if (silentMs >= quietMs) {
      this.#write(KEEP_ALIVE, () => DEFLATED_KEEP_ALIVE);
    }
  }

  #write(bytes: Buffer, deflated: () => Buffer): void {
    this.#writtenAt = performance.now();
    if (this.#options.isGzipped) {
      this.#crc = crc32(bytes, this.#crc);
      this.#length += bytes.length;
      this.#isFull = !this.#outgoing.write(deflated());
    } else {
      this.#isFull = !this.#outgoing.write(bytes);
    }
  }
}
