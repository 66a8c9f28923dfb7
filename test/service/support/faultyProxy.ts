import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import type { TestContext } from 'node:test';
import { type Fault, FaultyLine, type Passed } from './faultyLine.ts';

/** Where the service is; a connection is held until that is known. */
type Target = () => string | Promise<string>;

/** A line to a service with faults: the first one strikes the first connection that gets so far, then the second one, and so on. */
export class FaultyProxy implements AsyncDisposable {
  /** Bytes of requests and of responses on each connection. */
  readonly passed: Passed[] = [];
  /** Resolves when the last fault strikes. */
  readonly struck: Promise<void>;
  readonly #strike = Promise.withResolvers<void>();
  /** The sockets to the service, by which a test distinguishes them from the client's. */
  readonly upstream = new Set<Socket>();
  readonly #faults: Fault[];
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();

  private constructor(target: Target, faults: readonly Fault[]) {
    this.#faults = [...faults];
    this.struck = this.#strike.promise;
    // Half-open, so that a FIN travels one way.
    this.#server = createServer({ allowHalfOpen: true }, (client) => void this.#accept(client, target));
  }

  /** Listens until the test is over. */
  static async start(t: TestContext, target: Target, faults: readonly Fault[]): Promise<FaultyProxy> {
    const proxy = await FaultyProxy.listen(target, faults);
    t.after(() => proxy[Symbol.asyncDispose]());
    return proxy;
  }

  static async listen(target: Target, faults: readonly Fault[]): Promise<FaultyProxy> {
    const proxy = new FaultyProxy(target, faults);
    proxy.#server.listen(0, '127.0.0.1');
    await once(proxy.#server, 'listening');
    return proxy;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  /** Faults that have not struck. */
  get left(): number {
    return this.#faults.length;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const closed = once(this.#server, 'close');
    this.#server.close();
    for (const socket of this.#sockets) socket.destroy();
    await closed;
  }

  async #accept(client: Socket, target: Target): Promise<void> {
    this.#keep(client);
    const { hostname, port } = new URL(await target());
    const service = connect({ port: Number(port), host: hostname, allowHalfOpen: true });
    this.upstream.add(service);
    this.#keep(service);
    const passed = { request: 0, response: 0 };
    this.passed.push(passed);
    const line = new FaultyLine(
      { client, service, passed },
      {
        next: () => this.#faults[0],
        take: () => {
          this.#faults.shift();
          if (this.#faults.length === 0) this.#strike.resolve();
        },
      },
    );
    line.open();
  }

  #keep(socket: Socket): void {
    this.#sockets.add(socket);
    socket.setNoDelay(true).on('error', () => {});
    socket.on('close', () => this.#sockets.delete(socket));
  }
}
