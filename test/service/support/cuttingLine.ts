import { connect, createServer, type Server, type Socket } from 'node:net';
import { once } from 'node:events';

/** A line to a service that can be cut, or cuts itself after so many bytes of each connection's responses. */
export class CuttingLine implements AsyncDisposable {
  readonly #server: Server;
  readonly #open = new Set<Socket>();
  /** How many connections were cut. */
  cuts = 0;
  /** Bytes of responses after which each new connection is cut. */
  lastsFor = Number.POSITIVE_INFINITY;
  /** Whether new connections are closed at once. */
  isDown = false;

  private constructor(service: URL) {
    this.#server = createServer((client) => {
      if (this.isDown) {
        client.destroy();
        return;
      }
      const server = connect(Number(service.port), service.hostname);
      let left = this.lastsFor;
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
      client.pipe(server);
      server.on('data', (bytes: Buffer) => {
        if (!client.write(bytes.subarray(0, left))) {
          server.pause();
          client.once('drain', () => server.resume());
        }
        left -= bytes.length;
        if (left > 0) return;
        this.cuts += 1;
        cut();
      });
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
