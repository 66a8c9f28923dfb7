import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { type TestContext, test } from 'node:test';
import { getRequestListener } from '@hono/node-server';
import { Hono } from 'hono';
import type { AppEnv } from '../../../../src/service/http/access/appEnv.ts';
import { answerShared } from '../../../../src/service/http/openapi.ts';

async function start(t: TestContext, value: () => unknown, stalledMs?: number) {
  const app = new Hono<AppEnv>();
  app.get('/', answerShared(value, stalledMs));
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the variables are set by middlewares
  const fetchApp = app.fetch as (request: Request, env: unknown) => Promise<Response>;
  const server = createServer((incoming, outgoing) => void getRequestListener(fetchApp)(incoming, outgoing));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return { server, port: (server.address() as AddressInfo).port };
}

test('the value is made once, for all methods and requests', async (t) => {
  let made = 0;
  const { port } = await start(t, () => ({ made: ++made }));
  for (let index = 0; index < 3; index += 1) {
    const response = await fetch(`http://127.0.0.1:${port}/`);
    assert.deepEqual([response.headers.get('content-type'), await response.json()], ['application/json', { made: 1 }]);
  }
  const head = await fetch(`http://127.0.0.1:${port}/`, { method: 'HEAD' });
  assert.deepEqual([head.status, head.headers.get('content-length'), await head.text()], [200, '10', '']);
});

test('a client that does not read the response is disconnected', async (t) => {
  const { server, port } = await start(t, () => 'x'.repeat(50_000_000), 100);
  const connected = once(server, 'connection') as Promise<[Socket]>;
  const client = connect(port, '127.0.0.1').on('error', () => {});
  t.after(() => client.destroy());
  client.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
  const [socket] = await connected;
  await once(socket, 'close');
});
