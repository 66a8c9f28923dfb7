import { once } from 'node:events';
import { createServer, request, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

export interface ProxyOptions {
  /** `user:password`; a request without them gets 407. */
  readonly credentials?: string;
  /** Answers every request with this status. */
  readonly refusesWith?: number;
  /** Accepts connections and never answers. */
  readonly isSilent?: boolean;
  /** Where a tunnel to a name leads, whatever it asks for. */
  readonly tunnelTo?: { readonly host: string; readonly port: number };
}

/** A proxy as companies have them: tunnels (CONNECT) and plain requests, with a record of everything it could read. */
export class ForwardProxy implements AsyncDisposable {
  /** `CONNECT host:port`, or the method and the whole address. */
  readonly requests: string[] = [];
  readonly #options: ProxyOptions;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  readonly #clear: Buffer[] = [];

  private constructor(options: ProxyOptions) {
    this.#options = options;
    this.#server = createServer((asked, response) => this.#forward(asked, response));
    this.#server.on('connect', (asked: IncomingMessage, socket: Socket) => this.#tunnel(asked, socket));
    this.#server.on('connection', (socket: Socket) => {
      this.#keep(socket);
      socket.on('data', (bytes: Buffer) => void this.#clear.push(bytes));
    });
  }

  static async start(options: ProxyOptions = {}): Promise<ForwardProxy> {
    const proxy = new ForwardProxy(options);
    proxy.#server.listen(0, '127.0.0.1');
    await once(proxy.#server, 'listening');
    return proxy;
  }

  /** `127.0.0.1:<port>`. */
  get address(): string {
    return `127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** The address as HTTPS_PROXY has it, with these credentials. */
  url(credentials?: string): string {
    return `http://${credentials === undefined ? '' : `${credentials}@`}${this.address}`;
  }

  /** Every byte that clients sent on connections to this proxy: what it can read, and what it cannot as TLS has it. */
  received(): string {
    return Buffer.concat(this.#clear).toString('latin1');
  }

  /** Waits until a request has come. */
  async untilAsked(): Promise<void> {
    while (this.requests.length === 0) await sleep(10);
  }

  /** Waits until nobody has a connection to this proxy. */
  async untilIdle(): Promise<void> {
    while (this.#sockets.size > 0) await sleep(10);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #keep(socket: Socket): void {
    this.#sockets.add(socket);
    socket.on('error', () => {}).on('close', () => this.#sockets.delete(socket));
  }

  /** The status that this request is refused with; undefined where it is not. */
  #refusal({ headers }: IncomingMessage): number | undefined {
    const { credentials, refusesWith } = this.#options;
    if (refusesWith !== undefined) return refusesWith;
    const wanted = `Basic ${Buffer.from(credentials ?? '').toString('base64')}`;
    return credentials === undefined || headers['proxy-authorization'] === wanted ? undefined : 407;
  }

  #tunnel(asked: IncomingMessage, client: Socket): void {
    const target = asked.url ?? '';
    this.requests.push(`CONNECT ${target}`);
    // Sockets of an HTTP server stay half open when the client leaves.
    client.resume().once('end', () => client.end());
    if (this.#options.isSilent === true) return;
    const refusal = this.#refusal(asked);
    if (refusal !== undefined) {
      const basic = refusal === 407 ? 'Proxy-Authenticate: Basic realm="test"\r\n' : '';
      client.end(`HTTP/1.1 ${refusal} No\r\n${basic}Content-Length: 0\r\n\r\n`);
      return;
    }
    const { hostname, port } = new URL(`http://${target}`);
    const { tunnelTo = { host: hostname, port: Number(port || 80) } } = this.#options;
    const service = connect(tunnelTo, () => {
      client.write('HTTP/1.1 200 Connection established\r\n\r\n');
      service.pipe(client).pipe(service);
    });
    this.#keep(service);
    client.on('close', () => service.destroy());
    service.on('close', () => client.destroy());
  }

  #forward(asked: IncomingMessage, response: ServerResponse): void {
    this.requests.push(`${asked.method} ${asked.url}`);
    if (this.#options.isSilent === true) return;
    const refusal = this.#refusal(asked);
    if (refusal !== undefined) {
      response.writeHead(refusal, refusal === 407 ? { 'proxy-authenticate': 'Basic realm="test"' } : {}).end('No.');
      return;
    }
    const url = URL.parse(asked.url ?? '');
    if (url === null) return void response.writeHead(400).end('This is a proxy.');
    const { 'proxy-authorization': _own, ...headers } = asked.headers;
    const { tunnelTo } = this.#options;
    const place = tunnelTo ?? { host: url.hostname, port: url.port };
    const options = { ...place, method: asked.method, path: url.pathname + url.search, headers, agent: false };
    const forwarded = request(options, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    });
    forwarded.on('error', () => response.writeHead(502).end());
    asked.pipe(forwarded);
  }
}

/** An address of this machine where nothing listens: a dead proxy. */
export async function deadAddress(): Promise<string> {
  await using proxy = await ForwardProxy.start();
  return proxy.address;
}
