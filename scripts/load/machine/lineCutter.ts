import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { resetSocket } from '../../../test/service/support/resetSocket.ts';

interface Line {
  readonly ends: readonly Socket[];
  /** How many more bytes pass, in both directions together, before it is cut. */
  remaining: number;
}

/** A TCP proxy whose connections can be cut at any byte. Both ends get an RST then. */
export class LineCutter implements AsyncDisposable {
  readonly #server: Server;
  readonly #lines = new Set<Line>();
  #nextRemaining = Number.POSITIVE_INFINITY;
  #hasCutNew = Promise.withResolvers<void>();

  private constructor(target: number) {
    this.#server = createServer((client) => this.#open(client, connect(target, '127.0.0.1')));
  }

  /** @param target the port on this machine that connections lead to. */
  static async start(target: number): Promise<LineCutter> {
    const cutter = new LineCutter(target);
    cutter.#server.listen(0, '127.0.0.1');
    await once(cutter.#server, 'listening');
    return cutter;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** Cuts all connections, and returns how many there were. */
  cut(): number {
    const count = this.#lines.size;
    for (const line of this.#lines) this.#cut(line);
    return count;
  }

  /** Cuts each open connection after so many more bytes. @returns how many there were. */
  cutAfter(bytes: number): number {
    for (const line of this.#lines) line.remaining = bytes;
    return this.#lines.size;
  }

  /** Cuts the next connection after its first bytes, and resolves then. */
  async cutNew(bytes: number): Promise<void> {
    this.#nextRemaining = bytes;
    this.#hasCutNew = Promise.withResolvers();
    await this.#hasCutNew.promise;
  }

  /** Cuts all connections for the last time. */
  heal(): void {
    this.#nextRemaining = Number.POSITIVE_INFINITY;
    this.cut();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const closed = once(this.#server, 'close');
    this.#server.close();
    this.cut();
    await closed;
  }

  #open(client: Socket, service: Socket): void {
    const line: Line = { ends: [client, service], remaining: this.#nextRemaining };
    const isAimed = line.remaining < Number.POSITIVE_INFINITY;
    this.#nextRemaining = Number.POSITIVE_INFINITY;
    this.#lines.add(line);
    for (const [from, to] of [
      [client, service],
      [service, client],
    ] as const) {
      from.setNoDelay(true);
      from.on('error', () => {});
      from.on('close', () => {
        this.#lines.delete(line);
        to.destroySoon();
        if (isAimed) this.#hasCutNew.resolve();
      });
      from.on('data', (bytes) => {
        to.write(bytes.subarray(0, line.remaining));
        line.remaining -= bytes.length;
        if (line.remaining < 0) this.#cut(line);
        else if (to.writableNeedDrain) {
          from.pause();
          to.once('drain', () => from.resume());
        }
      });
    }
  }

  #cut(line: Line): void {
    this.#lines.delete(line);
    for (const end of line.ends) resetSocket(end);
  }
}
