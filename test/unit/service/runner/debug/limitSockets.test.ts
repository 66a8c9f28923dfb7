import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { limitSockets } from '../../../../../src/service/runner/debug/limitSockets.ts';

test('a job is asked to wait through sockets of its own processes, whatever else it puts into the folder', {
  skip: process.platform !== 'linux' && 'processes are found on Linux',
}, async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'farwharf-limit-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const { pid } = process;
  const job = { roots: () => [pid], isServing: () => false, outer: 0 };
  const listen = async (name: string): Promise<void> => {
    const server = createServer().listen(join(folder, name));
    await once(server, 'listening');
    t.after(() => server.close());
  };
  await listen('elsewhere');
  const own = join(folder, `${pid}.limit`);
  symlinkSync(join(folder, 'elsewhere'), own);
  assert.deepEqual(limitSockets(folder, job), []);
  rmSync(own);
  await listen(`${pid}.limit`);
  await listen(`${2 ** 22 + 1}.limit`); // no Linux has this process
  for (let index = 0; index < 100; index += 1) writeFileSync(join(folder, `${index + 1}.limit`), '');
  assert.deepEqual(limitSockets(folder, job), [own]);
  assert.deepEqual(limitSockets(join(folder, 'none'), job), []);
});
