import assert from 'node:assert/strict';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { toolCommand } from '../../../../src/extension/agents/toolCommand.ts';
import { resolveHost } from '../../../../src/jobs/service/host.ts';
import { resolveKey } from '../../../../src/jobs/service/hostKey.ts';

const KEYS: Readonly<Record<string, string>> = { 'https://gpu.example.org': 'the-key-of-gpu' };
const keys = { get: async (host: string) => KEYS[host] };
const home = join(tmpdir(), 'farwharf-no-such-home');
const sources = { keys, home, program: 'cli.mjs' };

test('the tools of agents use the selected service with its key, whatever the environment of VS Code names', async (t) => {
  const { FARWHARF_REMOTE_HOST: before } = process.env;
  t.after(() => {
    if (before === undefined) delete process.env['FARWHARF_REMOTE_HOST'];
    else process.env['FARWHARF_REMOTE_HOST'] = before;
  });
  const host = 'https://gpu.example.org';
  for (const named of [undefined, 'https://other.example.org']) {
    if (named === undefined) delete process.env['FARWHARF_REMOTE_HOST'];
    else process.env['FARWHARF_REMOTE_HOST'] = named;
    const { env } = await toolCommand('/home/ada/project', { host, ...sources });
    assert.equal(resolveHost({ env }), host);
    assert.equal(resolveKey(host, { env, home }), 'the-key-of-gpu');
  }
});

test('for this machine, the tools of agents get no key and no service', async () => {
  const { env } = await toolCommand('/home/ada/project', { host: 'local', ...sources });
  assert.equal(resolveHost({ env }), 'local');
  assert.equal(env['FARWHARF_API_KEY'], undefined);
});
