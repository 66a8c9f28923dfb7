import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { crc32 } from 'node:zlib';
import { GZIP_HEADER, gzipEnd } from '../../workspace/archive/gzipMember.ts';
import { StreamChunk, deflatedChunk } from './streamChunk.ts';
import type { EventPage } from './eventPages.ts';

const KEEP_ALIVE = new StreamChunk(': keep-alive\n\n');
const DEFLATED_KEEP_ALIVE = deflatedChunk(KEEP_ALIVE);
const GZIP_START = new StreamChunk(GZIP_HEADER);

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
 *
 * Pages go to the socket as they are, past the response, which would frame each again and write it in four parts.
 */
export class EventReader {
  readonly #outgoing: ServerResponse;
  readonly #options: ReaderOptions;
  /** Undefined until the connection has taken the responses to earlier requests. */
  #socket: Socket | undefined;
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
    if (outgoing.socket !== null) this.#begin(outgoing.socket);
    // The response gets the socket before its headers are written.
    else outgoing.once('socket', (socket: Socket) => process.nextTick(() => this.#begin(socket)));
  }

  /** Writes pages as long as the connection takes them, and ends with the job. */
  pump(): void {
    while (this.#socket !== undefined && !this.#isFull && !this.#outgoing.writableEnded) {
      const page = this.#options.next(this.#after);
      if (page === 'wait') return;
      if (page === 'over') {
        this.end();
        return;
      }
      this.#after = page.last;
      this.#write(this.#socket, page.plain, () => page.deflated);
      if (page.isEnd) this.end();
    }
  }

  end(): void {
    if (this.#outgoing.writableEnded) return;
    this.#outgoing.end(this.#options.isGzipped ? gzipEnd(this.#crc, this.#length) : undefined);
  }

  /** Sends a comment if nothing was written for `quietMs`, and disconnects a client that took nothing for `stalledMs`. */
  keepAlive({ quietMs, stalledMs }: { readonly quietMs: number; readonly stalledMs: number }): void {
    if (this.#socket === undefined) return;
    const silentMs = performance.now() - this.#writtenAt;
    if (this.#isFull || this.#outgoing.writableEnded) {
      if (silentMs >= stalledMs) this.#outgoing.destroy();
    } else if (silentMs >= quietMs) {
      this.#write(this.#socket, KEEP_ALIVE, () => DEFLATED_KEEP_ALIVE);
    }
  }

  #begin(socket: Socket): void {
    if (this.#outgoing.writableEnded) return;
    this.#socket = socket;
    // In another turn of the event loop: a client that reads fast would hold up everyone else until it has the whole log.
    const onDrain = (): void => void setImmediate(() => this.#onDrain());
    socket.on('drain', onDrain);
    this.#outgoing.once('close', () => socket.off('drain', onDrain));
    if (this.#options.isGzipped) this.#send(socket, GZIP_START);
    this.pump();
  }

  #onDrain(): void {
    this.#isFull = false;
    this.pump();
  }

  #write(socket: Socket, plain: StreamChunk, deflated: () => StreamChunk): void {
    this.#writtenAt = performance.now();
    if (!this.#options.isGzipped) {
      this.#send(socket, plain);
      return;
    }
    this.#crc = crc32(plain.bytes, this.#crc);
    this.#length += plain.bytes.length;
    this.#send(socket, deflated());
  }

  #send(socket: Socket, { framed, bytes }: StreamChunk): void {
    this.#isFull = !socket.write(this.#outgoing.chunkedEncoding ? framed : bytes);
  }
}
