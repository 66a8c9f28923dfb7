import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import type { AddressInfo } from 'node:net';
import type { TestContext } from 'node:test';

interface Cut {
  /** After so many bytes of requests on one connection, or when a request is whole. */
  readonly sent?: number | 'all';
  /** As soon as an answer comes, of which the client gets nothing. */
  readonly answer?: boolean;
  /** Called at the cut, before the client notices. */
  readonly whenCut?: () => Promise<void>;
}

/** Where the service is; a connection is held until that is known. */
type Target = () => string | Promise<string>;

/** A line to a service that breaks as told: the first cut ends the first connection that meets it, and so on. */
export class CuttingProxy {
  /** Bytes of requests on each connection. */
  readonly sent: number[] = [];
  readonly #cuts: Cut[];
  readonly #server: Server;

  private constructor(target: Target, cuts: readonly Cut[]) {
    this.#cuts = [...cuts];
    this.#server = createServer((client) => void this.#accept(client, target));
  }

  static async start(t: TestContext, target: Target, cuts: readonly Cut[]): Promise<CuttingProxy> {
    const proxy = new CuttingProxy(target, cuts);
    proxy.#server.listen(0, '127.0.0.1');
    await once(proxy.#server, 'listening');
    t.after(() => proxy.#server.close());
    return proxy;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async #accept(client: Socket, target: Target): Promise<void> {
    client.on('error', () => client.destroy());
    this.#join(client, new URL(await target()));
  }

  #join(client: Socket, { hostname, port }: URL): void {
    const service = connect(Number(port), hostname);
    const index = this.sent.push(0) - 1;
    let isPost = false;
    let requestBytes = Number.POSITIVE_INFINITY;
    const end = (): void => {
      client.destroy();
      service.destroy();
    };
    const cut = async (): Promise<void> => {
      const [first] = this.#cuts.splice(0, 1);
      client.pause();
      service.pause();
      await first?.whenCut?.();
      end();
    };
    for (const socket of [client, service]) socket.on('error', end).on('close', end);
    let isCut = false;
    client.on('data', (bytes) => {
      if (isCut) return;
      if (bytes.toString('latin1', 0, 5) === 'POST ') {
        isPost = true;
        requestBytes = (this.sent[index] ?? 0) + lengthOf(bytes.toString('latin1'));
      }
      this.sent[index] = (this.sent[index] ?? 0) + bytes.length;
      const { sent } = this.#cuts[0] ?? {};
      const limit = sent === 'all' ? requestBytes : (sent ?? Number.POSITIVE_INFINITY);
      isCut = isPost && (this.sent[index] ?? 0) >= limit;
      client.pause();
      // What was sent arrives before the line breaks.
      service.write(bytes, () => void (isCut ? cut() : client.resume()));
    });
    service.on('data', (bytes) => {
      if (isCut) return;
      if (isPost && this.#cuts[0]?.answer === true) {
        isCut = true;
        void cut();
      } else client.write(bytes);
    });
  }
}

/** Bytes of a request from its head. */
function lengthOf(head: string): number {
  const [, length = '0'] = /^content-length: *(\d+)/im.exec(head) ?? [];
  return head.indexOf('\r\n\r\n') + 4 + Number(length);
}
