import { Duplex } from 'node:stream';

// A frame: its type (1 byte), a number (6 bytes, big-endian), and for DATA as many bytes.
const HEADER_BYTES = 7;
const DATA = 1;
/** The number is how many bytes of the stream this side has received. */
const RECEIVED = 2;
/** The stream ends on purpose, and is not continued. */
const END = 3;

/** Bytes that the other side may not have received, which are kept to be sent again: a line of 400 Mbit/s with 80 ms needs as much. */
const MAX_UNRECEIVED = 4 * 2 ** 20;
const REPORT_BYTES = 256 * 1024;

/**
 * A byte stream over connections that may break: each continues where the one before was cut, with nothing lost or doubled. It emits
 * `detach` when a connection has broken. Its end is that of both directions.
 */
export class ResumableStream extends Duplex {
  #connection: Duplex | undefined;
  /** What the other side has not reported as received. */
  readonly #unreceived: Buffer[] = [];
  #sentBytes = 0;
  #unreceivedBytes = 0;
  #receivedBytes = 0;
  #reportedBytes = 0;
  /** Calls back once more may be written. */
  #waiting: (() => void) | undefined;

  constructor() {
    super({ allowHalfOpen: false });
    this.on('error', () => {}); // its close follows
    this.once('end', () => this.destroy());
  }

  /** How many bytes of the other side have arrived. */
  get receivedBytes(): number {
    return this.#receivedBytes;
  }

  /** Whether what follows so many bytes of this side can still be sent. */
  canContinueAfter(received: number): boolean {
    const missing = this.#sentBytes - received;
    return !this.destroyed && Number.isSafeInteger(received) && missing >= 0 && missing <= this.#unreceivedBytes;
  }

  /** Ends the connection, if there is one, as if it had broken. */
  detach(): void {
    if (this.#connection !== undefined) this.#onDetach(this.#connection);
  }

  /**
   * Continues over a connection; there must be none.
   *
   * @param received how many bytes of this side the other one has received; `canContinueAfter` it must be true.
   */
  attach(connection: Duplex, received: number): void {
    this.#connection = connection;
    this.#forget(received);
    this.#reportedBytes = this.#receivedBytes;
    const parser = new FrameParser({
      onData: (bytes) => this.#receive(bytes),
      onReceived: (total) => this.#onReceived(total),
      onEnd: () => void this.push(null),
      onError: () => void this.destroy(),
    });
    const onEnd = (): void => this.#onDetach(connection);
    connection
      .on('data', (bytes: Buffer) => this.#connection === connection && parser.parse(bytes))
      .on('drain', () => this.#release())
      .on('error', onEnd)
      .on('end', onEnd)
      .on('close', onEnd);
    for (const bytes of this.#unreceived) this.#send(DATA, bytes.length, bytes);
    this.#release();
    if (connection.destroyed) onEnd(); // its events have passed
  }

  /** Ends the stream for the other side too, which then does not wait for another connection. */
  close(): void {
    if (this.destroyed) return;
    const connection = this.#connection;
    this.#connection = undefined; // its end is no break
    if (connection?.writable === true) connection.end(header(END, 0));
    this.destroy();
  }

  override _read(): void {
    this.#connection?.resume();
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: () => void): void {
    this.#unreceived.push(chunk);
    this.#sentBytes += chunk.length;
    this.#unreceivedBytes += chunk.length;
    this.#send(DATA, chunk.length, chunk);
    this.#waiting = done;
    this.#release();
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    const connection = this.#connection;
    this.#connection = undefined;
    connection?.destroy();
    this.#unreceived.length = 0;
    done(error);
  }

  #receive(bytes: Buffer): void {
    this.#receivedBytes += bytes.length;
    if (!this.push(bytes)) this.#connection?.pause();
    if (this.#receivedBytes - this.#reportedBytes < REPORT_BYTES) return;
    this.#reportedBytes = this.#receivedBytes;
    this.#send(RECEIVED, this.#receivedBytes);
  }

  #onReceived(total: number): void {
    if (!this.canContinueAfter(total)) return void this.destroy();
    this.#forget(total);
    this.#release();
  }

  #forget(received: number): void {
    let over = this.#unreceivedBytes - (this.#sentBytes - received);
    this.#unreceivedBytes -= over;
    let whole = 0;
    for (const bytes of this.#unreceived) {
      if (bytes.length > over) break;
      over -= bytes.length;
      whole += 1;
    }
    this.#unreceived.splice(0, whole);
    const [first] = this.#unreceived;
    if (first !== undefined && over > 0) this.#unreceived[0] = first.subarray(over);
  }

  #onDetach(connection: Duplex): void {
    connection.destroy();
    if (this.#connection !== connection) return;
    this.#connection = undefined;
    this.#release();
    this.emit('detach');
  }

  #send(type: number, amount: number, data?: Buffer): void {
    const connection = this.#connection;
    if (connection?.writable !== true) return;
    if (data === undefined) {
      connection.write(header(type, amount));
      return;
    }
    // All of this turn leaves at once.
    connection.cork();
    process.nextTick(() => connection.uncork());
    connection.write(header(type, amount));
    connection.write(data);
  }

  #release(): void {
    const isFull = this.#unreceivedBytes >= MAX_UNRECEIVED || this.#connection?.writableNeedDrain === true;
    if (isFull || this.#waiting === undefined) return;
    const done = this.#waiting;
    this.#waiting = undefined;
    done();
  }
}

interface FrameHandler {
  readonly onData: (bytes: Buffer) => void;
  readonly onReceived: (total: number) => void;
  readonly onEnd: () => void;
  readonly onError: () => void;
}

/** Passes on the data of frames as it arrives, whole or not. */
class FrameParser {
  readonly #handler: FrameHandler;
  #header: Buffer = Buffer.alloc(0);
  #left = 0;

  constructor(handler: FrameHandler) {
    this.#handler = handler;
  }

  parse(chunk: Buffer): void {
    let rest = chunk;
    while (rest.length > 0) {
      if (this.#left > 0) {
        const part = rest.subarray(0, this.#left);
        this.#left -= part.length;
        rest = rest.subarray(part.length);
        this.#handler.onData(part);
        continue;
      }
      const missing = HEADER_BYTES - this.#header.length;
      const part = rest.subarray(0, missing);
      this.#header = this.#header.length === 0 ? part : Buffer.concat([this.#header, part]);
      rest = rest.subarray(missing);
      if (this.#header.length < HEADER_BYTES) return;
      const [type, amount] = [this.#header.readUInt8(0), this.#header.readUIntBE(1, HEADER_BYTES - 1)];
      this.#header = Buffer.alloc(0);
      if (type === DATA) this.#left = amount;
      else if (type === RECEIVED) this.#handler.onReceived(amount);
      else return type === END ? this.#handler.onEnd() : this.#handler.onError();
    }
  }
}

function header(type: number, amount: number): Buffer {
  const bytes = Buffer.alloc(HEADER_BYTES);
  bytes.writeUInt8(type, 0);
  bytes.writeUIntBE(amount, 1, HEADER_BYTES - 1);
  return bytes;
}
