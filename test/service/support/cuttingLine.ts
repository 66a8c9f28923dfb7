import { connect, createServer, type Server, type Socket } from 'node:net';
import { once } from 'node:events';

/** A line to a service that can be cut, or cuts itself after so many bytes of each connection. */
export class CuttingLine implements AsyncDisposable {
  readonly #server: Server;
  readonly #open = new Set<Socket>();
  /** How many connections were cut. */
  cuts = 0;
  /** Bytes of either direction after which each new connection is cut. */
  lastsFor = Number.POSITIVE_INFINITY;
  /** Whether new connections are closed at once. */
  isDown = false;
  /** Whether new connections are accepted, and nothing is passed on. */
  isSilent = false;
  /** Where new connections lead. */
  service: URL;

  private constructor(service: URL) {
    this.service = service;
    this.#server = createServer((client) => {
      if (this.isDown) {
        client.destroy();
        return;
      }
      if (this.isSilent) {
        this.#open.add(client.on('error', () => {}));
        client.once('close', () => this.#open.delete(client)).resume();
        return;
      }
      const server = connect(Number(this.service.port), this.service.hostname);
      const { lastsFor } = this;
      const cut = (): void => {
        for (const end of [client, server]) end.resetAndDestroy();
      };
      for (const end of [client, server]) {
        this.#open.add(end);
        end
          .on('error', () => {})
          .once('close', () => {
            this.#open.delete(end);
            cut();
          });
      }
      for (const [from, to] of [
        [client, server],
        [server, client],
      ] as const) {
        let left = lastsFor;
        from.once('end', () => to.end());
        from.on('data', (bytes: Buffer) => {
          if (!to.write(bytes.subarray(0, left))) {
            from.pause();
            to.once('drain', () => from.resume());
          }
          left -= bytes.length;
          if (left > 0) return;
          this.cuts += 1;
          cut();
        });
      }
    });
  }

  static async start(service: string): Promise<CuttingLine> {
    const line = new CuttingLine(new URL(service));
    line.#server.listen(0, '127.0.0.1');
    await once(line.#server, 'listening');
    return line;
  }

  get url(): string {
    const address = this.#server.address();
    return `http://127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}`;
  }

  /** Resolves when it is connected to once more. */
  async nextConnection(): Promise<void> {
    await once(this.#server, 'connection');
  }

  /** Cuts all connections. */
  cut(): void {
    for (const end of this.#open) end.resetAndDestroy();
    this.cuts += 1;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.cut();
    this.#server.close();
    await once(this.#server, 'close');
  }
}
