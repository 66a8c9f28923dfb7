import type { ServerResponse } from 'node:http';
import { crc32 } from 'node:zlib';
import { GZIP_HEADER, gzipEnd } from '../../workspace/archive/gzipMember.ts';
import { deflatePiece, type EventPage } from './eventPages.ts';

const KEEP_ALIVE = Buffer.from(': keep-alive\n\n');
const DEFLATED_KEEP_ALIVE = deflatePiece(KEEP_ALIVE);

export interface ReaderOptions {
  /** The ID of the last event that the client has. */
  readonly after: number;
  readonly isGzipped: boolean;
  /** Returns the page after an event, `wait` while there is none, or `over` if there will never be one. */
  readonly next: (after: number) => EventPage | 'wait' | 'over';
}

/**
 * One connection that reads the events of a job. It buffers no events: it gets the next page once the connection has taken the
 * last one, so a client that does not read costs at most one page.
 */
export class EventReader {
  readonly #outgoing: ServerResponse;
  readonly #options: ReaderOptions;
  #after: number;
  #isFull = false;
  #writtenAt = performance.now();
  // The only state of a gzip stream, because its pieces are compressed separately: no reader needs a window.
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

  /** Writes pages as long as the connection takes them, and ends with the job. */
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
      if (page.isEnd) this.end();
    }
  }

  end(): void {
    if (this.#outgoing.writableEnded) return;
    this.#outgoing.end(this.#options.isGzipped ? gzipEnd(this.#crc, this.#length) : undefined);
  }

  /** Sends a comment if nothing was written for `quietMs`, and disconnects a client that took nothing for `stalledMs`. */
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
