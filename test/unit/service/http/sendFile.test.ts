import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { sendFile } from '../../../../src/service/http/resultRoutes.ts';
import { GUARD_MS, withGrowingLimit } from '../../timeLimits.ts';

const SIZE = 10_000_000;

/** A server of one file, and a client that has asked for it and reads nothing yet. */
async function ask(t: TestContext, stalledMs: number): Promise<{ client: Socket; sent: Promise<boolean> }> {
  const folder = mkdtempSync(join(tmpdir(), 'farwharf-send-'));
  const path = join(folder, 'file');
  writeFileSync(path, '');
  truncateSync(path, SIZE);
  const { promise: sent, resolve, reject } = Promise.withResolvers<boolean>();
  const server = createServer((_incoming, outgoing) => {
    sendFile(outgoing, path, { headers: {}, stalledMs }).then(resolve, reject);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const client = connect((server.address() as AddressInfo).port, '127.0.0.1');
  client.on('error', () => {});
  t.after(() => {
    client.destroy();
    server.close();
    rmSync(folder, { recursive: true, force: true });
  });
  client.pause();
  client.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
  return { client, sent };
}

test('a client that takes nothing for a while is disconnected, so that it holds neither memory nor a file', {
  timeout: GUARD_MS,
}, async (t) => {
  const { sent } = await ask(t, 200);
  const begun = performance.now();
  assert.equal(await sent, true);
  assert.ok(performance.now() - begun >= 200);
});

test('a client that reads slowly gets the whole file', async (t) => {
  await withGrowingLimit(500, async (stalledMs) => {
    const { client, sent } = await ask(t, stalledMs);
    const begun = performance.now();
    let received = 0;
    while (received < SIZE) {
      await sleep(stalledMs / 50);
      received += (client.read() as Buffer | null)?.length ?? 0;
      assert.ok(!client.destroyed);
    }
    assert.equal(await sent, true);
    assert.ok(performance.now() - begun > stalledMs, 'longer in all than it may take nothing');
  });
});
