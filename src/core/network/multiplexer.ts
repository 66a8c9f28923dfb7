import { Duplex, type Readable, type Writable } from 'node:stream';
import { gather } from './gather.ts';

// A frame: the channel's number (4 bytes, big-endian), the type (1 byte), a length or an amount (4 bytes), and that many bytes of data.
const HEADER_BYTES = 9;
const OPEN = 1;
const DATA = 2;
const END = 3;
const RESET = 4;
/** The other side may send this many more bytes. */
const CREDIT = 5;

const MAX_FRAME_BYTES = 64 * 1024;
/** Bytes in flight without an acknowledgement, for each channel: a line of 400 Mbit/s with 80 ms needs as much. */
const WINDOW_BYTES = 4 * 2 ** 20;
const MAX_CHANNELS = 256;
/** Otherwise they would pile up for a side that opens channels and reads nothing. */
const MAX_UNREAD_REFUSALS = 2_000;

const NOTHING = Buffer.alloc(0);

export interface MultiplexerOptions {
  /** Called with each channel that the other side opens; without it, such channels are refused. */
  readonly onChannel?: (channel: Duplex) => void;
  /** How many channels the other side may have open; it is refused more. */
  readonly maxChannels?: number;
  /** Bytes in flight without an acknowledgement, for each channel. Both sides must agree. */
  readonly windowBytes?: number;
  /** Called once, when the connection has ended or broken. */
  readonly onClose?: () => void;
}

/**
 * Any number of byte streams over one connection, each with a window of its own, so that a slow reader holds up nobody else. When the
 * connection ends, all channels fail with `ECONNRESET`.
 *
 * Our own, because Node's HTTP/2 aborts the process when a connection breaks that is not a socket (standard input and output are not).
 */
export class Multiplexer {
  readonly #output: Writable;
  readonly #options: MultiplexerOptions;
  readonly #channels = new Map<number, Channel>();
  /** The start of a header, and the channel of the last data frame with the bytes that it still lacks. */
  #header: Buffer = NOTHING;
  #dataId = 0;
  #missing = 0;
  #lastId = 0;
  #isClosed = false;
  #unreadRefusals = 0;
  /** The channels that have more to send once the output accepts it, in turn. */
  readonly #waiting: (() => void)[] = [];

  constructor(input: Readable, output: Writable, options: MultiplexerOptions = {}) {
    this.#output = output;
    this.#options = options;
    const close = (): void => this.close();
    input
      .on('data', (chunk: Buffer) => this.#onData(chunk))
      .on('end', close)
      .on('error', close)
      .on('close', close);
    output
      .on('drain', () => this.#onDrain())
      .on('error', close)
      .on('close', close);
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** Opens a channel. @throws Error `ECONNRESET` if the connection has ended. */
  open(): Duplex {
    if (this.#isClosed) throw connectionLost();
    this.#lastId += 1;
    const channel = this.#add(this.#lastId);
    this.#send(this.#lastId, OPEN, 0);
    return channel;
  }

  /** Ends all channels. The streams of the connection remain the caller's. */
  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    for (const channel of this.#channels.values()) channel.destroy(connectionLost());
    this.#channels.clear();
    this.#waiting.length = 0;
    this.#options.onClose?.();
  }

  #add(id: number): Channel {
    const channel = new Channel({
      send: (type, amount, data) => this.#send(id, type, amount, data),
      isFull: () => this.#output.writableNeedDrain,
      whenDrained: (resume) => void this.#waiting.push(resume),
      forget: () => void this.#channels.delete(id),
      windowBytes: this.#options.windowBytes ?? WINDOW_BYTES,
    });
    channel.on('error', () => {}); // reported to the user of the channel
    this.#channels.set(id, channel);
    return channel;
  }

  #send(id: number, type: number, amount: number, data?: Buffer): void {
    if (this.#isClosed) return;
    const header = Buffer.allocUnsafe(HEADER_BYTES);
    header.writeUInt32BE(id, 0);
    header.writeUInt8(type, 4);
    header.writeUInt32BE(amount, 5);
    if (data === undefined) {
      this.#output.write(header);
      return;
    }
    // In one call of the system, and without a copy.
    this.#output.cork();
    this.#output.write(header);
    this.#output.write(data);
    this.#output.uncork();
  }

  #onDrain(): void {
    while (!this.#output.writableNeedDrain) {
      const resume = this.#waiting.shift();
      if (resume === undefined) return;
      resume();
    }
  }

  #onData(chunk: Buffer): void {
    let rest = chunk;
    while (!this.#isClosed && rest.length > 0) {
      // Data is passed on as it arrives: waiting for whole frames would copy most of it.
      const data = rest.subarray(0, this.#missing);
      if (data.length > 0) {
        this.#missing -= data.length;
        if (this.#channels.get(this.#dataId)?.receive(data) === false) this.close();
        rest = rest.subarray(data.length);
        continue;
      }
      const part = rest.subarray(0, HEADER_BYTES - this.#header.length);
      rest = rest.subarray(part.length);
      this.#header = this.#header.length === 0 ? part : Buffer.concat([this.#header, part]);
      if (this.#header.length < HEADER_BYTES) return;
      const header = this.#header;
      this.#header = NOTHING;
      this.#onFrame(header.readUInt32BE(0), header.readUInt8(4), header.readUInt32BE(5));
    }
  }

  #onFrame(id: number, type: number, amount: number): void {
    if ((type === DATA && amount > MAX_FRAME_BYTES) || type < OPEN || type > CREDIT) {
      this.close(); // not this protocol
      return;
    }
    if (type === DATA) {
      this.#dataId = id;
      this.#missing = amount;
      return;
    }
    if (type === OPEN) {
      const { onChannel, maxChannels = MAX_CHANNELS } = this.#options;
      const isRefused = onChannel === undefined || this.#channels.has(id) || this.#channels.size >= maxChannels;
      if (isRefused) this.#refuse(id);
      else onChannel(this.#add(id));
      return;
    }
    const channel = this.#channels.get(id);
    if (type === END) channel?.push(null);
    else if (type === CREDIT) channel?.allow(amount);
    else channel?.destroy(connectionLost());
  }

  #refuse(id: number): void {
    this.#unreadRefusals = this.#output.writableNeedDrain ? this.#unreadRefusals + 1 : 0;
    if (this.#unreadRefusals > MAX_UNREAD_REFUSALS) this.close();
    else this.#send(id, RESET, 0);
  }
}

interface ChannelOptions {
  readonly send: (type: number, amount: number, data?: Buffer) => void;
  /** Whether data has to wait for `whenDrained`. */
  readonly isFull: () => boolean;
  readonly whenDrained: (resume: () => void) => void;
  readonly forget: () => void;
  readonly windowBytes: number;
}

/** Has what HTTP clients call on a socket. */
class Channel extends Duplex {
  readonly #options: ChannelOptions;
  #credit: number;
  /** Bytes received for which the other side has no new credit yet. */
  #unacknowledged = 0;
  /** What is being written, and whom to tell once it is sent. */
  #unsent: Buffer[] = [];
  #onSent: ((error?: Error | null) => void) | undefined;
  /** Goes on by itself: neither done nor without credit. */
  #isSending = false;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: ChannelOptions) {
    super({ allowHalfOpen: true });
    this.#options = options;
    this.#credit = options.windowBytes;
  }

  /** Returns false if the other side exceeded the window. */
  receive(data: Buffer): boolean {
    this.#unacknowledged += data.length;
    if (this.#unacknowledged > this.#options.windowBytes) return false;
    this.#timer?.refresh();
    this.push(data);
    return true;
  }

  /** Like a socket's: emits `timeout` after this many milliseconds without a byte sent or received; 0 turns it off. */
  setTimeout(milliseconds: number, onTimeout?: () => void): this {
    clearTimeout(this.#timer);
    this.#timer = milliseconds > 0 ? setTimeout(() => this.emit('timeout'), milliseconds).unref() : undefined;
    if (onTimeout !== undefined) this.once('timeout', onTimeout);
    return this;
  }

  setKeepAlive(): this {
    return this;
  }

  setNoDelay(): this {
    return this;
  }

  ref(): this {
    return this;
  }

  unref(): this {
    return this;
  }

  allow(bytes: number): void {
    this.#credit += bytes;
    if (!this.#isSending) this.#sendMore();
  }

  override _read(): void {
    if (this.#unacknowledged < this.#options.windowBytes / 4) return;
    const bytes = this.#unacknowledged;
    this.#unacknowledged = 0; // before more arrives
    this.#options.send(CREDIT, bytes);
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    this.#sendAll([chunk], done);
  }

  override _writev(chunks: readonly { readonly chunk: Buffer }[], done: (error?: Error | null) => void): void {
    this.#sendAll(gather(chunks.map(({ chunk }) => chunk)), done);
  }

  override _final(done: (error?: Error | null) => void): void {
    this.#options.send(END, 0);
    done();
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    const isComplete = this.readableEnded && this.writableFinished;
    if (!isComplete) this.#options.send(RESET, 0);
    clearTimeout(this.#timer);
    this.#options.forget();
    this.#unsent = [];
    this.#onSent = undefined;
    done(error);
  }

  #sendAll(chunks: Buffer[], done: (error?: Error | null) => void): void {
    this.#unsent = chunks;
    this.#onSent = done;
    this.#sendMore();
  }

  /** Goes on until all is sent, or the other side has to allow more, or the connection accepts no more for now. */
  #sendMore(): void {
    this.#isSending = true;
    while (this.#onSent !== undefined) {
      if (this.#options.isFull()) {
        this.#options.whenDrained(() => this.#sendMore());
        return;
      }
      const [first] = this.#unsent;
      if (first === undefined) {
        const done = this.#onSent;
        this.#onSent = undefined;
        done();
        continue;
      }
      const bytes = Math.min(first.length, MAX_FRAME_BYTES, this.#credit);
      if (bytes === 0 && first.length > 0) break;
      // Before it is sent, because credit may arrive meanwhile.
      if (bytes === first.length) this.#unsent.shift();
      else this.#unsent[0] = first.subarray(bytes);
      if (bytes === 0) continue;
      this.#credit -= bytes;
      this.#timer?.refresh();
      this.#options.send(DATA, bytes, first.subarray(0, bytes));
    }
    this.#isSending = false;
  }
}

function connectionLost(): Error {
  return Object.assign(new Error('The connection was lost.'), { code: 'ECONNRESET' });
}
