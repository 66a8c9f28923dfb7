import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http';
import { type AddressInfo, createServer as createTcpServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { RemoteClient, type RemoteClientOptions } from '../../../src/remote/client.ts';
import { KEEPS_CONNECTIONS } from '../timeLimits.ts';

export const KEY = 'fw_test_0123456789abcdef';

/** Listens on a free port of the loopback address until the test is over, and gives the port. */
export async function listen(t: TestContext, server: Server): Promise<number> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket)).on('error', () => {});
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => {
    for (const socket of sockets) socket.destroy();
    return new Promise((resolve) => server.close(resolve));
  });
  return (server.address() as AddressInfo).port;
}

/** A real HTTP server, and a client for it that is closed with the test. */
export async function serve(
  t: TestContext,
  handler: RequestListener,
  options?: RemoteClientOptions,
): Promise<{ client: RemoteClient; host: string }> {
  const host = `http://127.0.0.1:${await listen(t, createServer(KEEPS_CONNECTIONS, handler))}`;
  const client = new RemoteClient(host, KEY, options);
  t.after(() => client.close());
  return { client, host };
}

/** A server of bare bytes, for answers that no HTTP library would send. */
export async function serveBytes(
  t: TestContext,
  onConnection: (socket: Socket) => void,
  options?: RemoteClientOptions,
): Promise<{ client: RemoteClient; host: string }> {
  const host = `http://127.0.0.1:${await listen(t, createTcpServer(onConnection))}`;
  const client = new RemoteClient(host, KEY, options);
  t.after(() => client.close());
  return { client, host };
}

export function answerJson(response: ServerResponse, value: unknown, status = 200): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value));
}

export async function readAll(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

/** A folder that is removed with the test. */
export async function makeFolder(t: TestContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'farwharf-remote-'));
  t.after(() => rm(folder, { recursive: true, force: true }));
  return folder;
}
