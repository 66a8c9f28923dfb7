import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { startAskpass } from '../../../src/machines/ssh/askpass.ts';
import { configuredHosts } from '../../../src/machines/ssh/sshCommand.ts';

const client = join(import.meta.dirname, '../../../src/machines/ssh/askpassClient.ts');
const run = promisify(execFile);

test('the questions of ssh are answered, refused and bounded, and leave nothing behind', {
  skip: process.platform === 'win32',
}, async () => {
  const asked: string[] = [];
  const answers = ['correct horse', '', undefined, undefined];
  const askpass = await startAskpass({
    node: process.execPath,
    client,
    answer: async (question) => {
      asked.push(question);
      return answers[asked.length - 1];
    },
  });
  const script = askpass.env['SSH_ASKPASS'] ?? '';
  assert.equal(askpass.env['SSH_ASKPASS_REQUIRE'], 'force');
  assert.equal(statSync(dirname(script)).mode & 0o777, 0o700);
  assert.equal((await run(script, ["Enter passphrase for key '/home/ada/id':"])).stdout, 'correct horse\n');
  assert.equal((await run(script, ['Empty?'])).stdout, '\n');
  await assert.rejects(run(script, ['Cancelled?']), { code: 1, stdout: '' });
  await assert.rejects(run(script, ['x'.repeat(100_000)]), { code: 1 });
  assert.deepEqual(
    asked.map((question) => question.slice(0, 44)),
    ["Enter passphrase for key '/home/ada/id':", 'Empty?', 'Cancelled?', 'x'.repeat(44)],
  );
  assert.ok((asked[3]?.length ?? 0) < 10_000);
  await askpass[Symbol.asyncDispose]();
  assert.equal(existsSync(dirname(script)), false);
});

test('the machines of ~/.ssh/config are offered, without patterns and options', async () => {
  const home = mkdtempSync(join(tmpdir(), 'farwharf-home-'));
  assert.deepEqual(await configuredHosts(home), []);
  mkdirSync(join(home, '.ssh'));
  writeFileSync(
    join(home, '.ssh', 'config'),
    'Host gpu login.example.org\n  User ada\nhost=box\nHost *.lab !bad -oX\nHost gpu\nMatch host x\n  HostName y\n',
  );
  assert.deepEqual(await configuredHosts(home), ['gpu', 'login.example.org', 'box']);
  rmSync(home, { recursive: true });
});
