import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { Scratch } from './commandLine.ts';

const UNIT = join(import.meta.dirname, '../../docs/farwharf.service');

test('systemd has nothing to say against the unit', (t) => {
  const { error, status, stdout, stderr } = spawnSync('systemd-analyze', ['verify', UNIT], { encoding: 'utf8' });
  if (error !== undefined) return t.skip('NO SYSTEMD: the unit is not verified here');
  assert.deepEqual([status, stdout + stderr], [0, '']);
});

test('the unit starts the service with flags that it has, and leaves its jobs alone', async () => {
  const unit = readFileSync(UNIT, 'utf8');
  assert.match(unit, /^KillMode=process$/m);
  const [, command = ''] = /^ExecStart=(.+)$/m.exec(unit) ?? [];
  await using scratch = await Scratch.create();
  const { stdout } = await scratch.run(['serve', '--help']);
  const flags = command.match(/--[a-z-]+/g) ?? [];
  assert.ok(flags.length > 0);
  for (const flag of flags) assert.ok(stdout.includes(`${flag} <`), flag);
});
