import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { test } from 'node:test';
import { readRequestBody } from '../../../../../src/service/http/access/readBody.ts';

test('a body that is sent bit by bit ends with its connection, in a time that suits the largest one', async (t) => {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => server.close());
  const requested = once(server, 'request') as Promise<[IncomingMessage]>;
  const client = connect((server.address() as AddressInfo).port, '127.0.0.1').on('error', () => {});
  t.after(() => client.destroy());
  client.write('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\n');
  const [incoming] = await requested;
  const drip = setInterval(() => client.write('.'), 10);
  t.after(() => clearInterval(drip));
  const before = client.bytesWritten;
  await assert.rejects(readRequestBody(incoming, 1_000_000, 300));
  assert.ok(client.bytesWritten > before, 'it was sent meanwhile');
});
