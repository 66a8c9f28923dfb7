import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { runToEnd } from '../../../src/machines/ssh/sshSession.ts';
import { tempHome } from '../jobs/fixtures.ts';

/** A machine that prints the line of a script and keeps the session open. */
function stuckMachine(t: TestContext) {
  const home = tempHome(t);
  const ssh = join(home, 'ssh');
  const nonce = '$(echo "$*" | grep -o "farwharf-[0-9a-f]*" | head -n 1)';
  writeFileSync(ssh, `#!/bin/sh\necho "${nonce} done"\nexec sleep 1000\n`, { mode: 0o755 });
  const client = { home, env: { ...process.env, FARWHARF_SSH: ssh } };
  return { client, target: { destination: 'box' }, machine: 'box' };
}

test('a machine that keeps the session open after its answer is not waited for', async (t) => {
  assert.equal(await runToEnd(stuckMachine(t), (nonce) => `echo ${nonce}`, 10), 'done');
});

test('such a wait can be stopped', { timeout: 60_000 }, async (t) => {
  const stop = new AbortController();
  const running = runToEnd({ ...stuckMachine(t), signal: stop.signal }, (nonce) => `echo ${nonce}`, 600_000);
  setTimeout(() => stop.abort(new Error('stopped')), 1_000);
  await assert.rejects(running, /stopped/);
});
