// A machine that is hostile: whatever it prints, and for however long, the person at this end gets a sentence in time.
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { saveMachine } from '../../../src/machines/machineRecords.ts';
import { openMachine } from '../../../src/machines/openMachine.ts';
import { removeMachine } from '../../../src/machines/removeMachine.ts';
import { tempHome } from '../jobs/fixtures.ts';

const skip = process.platform === 'win32' ? 'the machine is a shell script' : false;
const MACHINE = {
  name: 'box',
  destination: 'box',
  build: 'a'.repeat(64),
  version: '1.0.0',
  executor: 'process',
  connectedAt: '2026-01-01T00:00:00.000Z',
};

/** A connected machine that runs a shell script instead of ours; `$nonce` is the word that our script would print. */
function lyingMachine(t: TestContext, script: string) {
  const home = tempHome(t);
  const ssh = join(home, 'ssh');
  const nonce = 'nonce=$(echo "$*" | grep -o "farwharf-[0-9a-f]\\{24\\}" | head -n 1)';
  writeFileSync(ssh, `#!/bin/sh\n${nonce}\n${script}\n`, { mode: 0o755 });
  saveMachine(home, MACHINE);
  return { home, env: { ...process.env, FARWHARF_SSH: ssh } };
}

test('an answer to the removal that is none is named, and the machine stays connected', { skip }, async (t) => {
  for (const answer of ['hello <b>', '[1]', '{"unfinished":"many"}', '']) {
    const client = lyingMachine(t, `echo "$nonce "'${answer}'`);
    const removing = removeMachine(MACHINE, { client, confirm: async () => false });
    await assert.rejects(removing, {
      code: 'conflict',
      message: /^The service on box could not be stopped \(its answer is not understood\)\. Nothing was removed\./,
    });
  }
});

test('output without end, before the answer or in its line, ends the connection', { skip }, async (t) => {
  for (const start of ['', 'printf "\\n$nonce "']) {
    const client = lyingMachine(t, `${start}\nexec yes 0123456789012345678901234567890123456789 | tr -d "\\n"`);
    await assert.rejects(openMachine('box', client), /^MachineUnreachable: box printed more than 64\.0 MB before /);
  }
});

test('a service whose version or executor is no short text is refused', { skip }, async (t) => {
  const long = 'x'.repeat(301);
  for (const greeting of [
    { version: long, executor: 'process' },
    { version: '1.0.0', executor: long },
  ]) {
    const client = lyingMachine(t, `echo "$nonce "'${JSON.stringify({ key: 'k', ...greeting })}'`);
    await assert.rejects(openMachine('box', client), { code: 'corrupt' });
  }
});

test('a connection to a machine that says nothing can be stopped', { skip, timeout: 60_000 }, async (t) => {
  const client = lyingMachine(t, 'exec sleep 1000');
  const stop = new AbortController();
  const opening = openMachine('box', client, stop.signal);
  stop.abort(new Error('stopped'));
  await assert.rejects(opening, /stopped/);
});
