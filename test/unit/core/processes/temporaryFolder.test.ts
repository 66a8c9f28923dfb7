import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { TemporaryFolder } from '../../../../src/core/processes/temporaryFolder.ts';

const MODULE = join(import.meta.dirname, '../../../../src/core/processes/temporaryFolder.ts');

test('a temporary folder belongs to this user alone, and is removed with what is in it', async () => {
  let path: string;
  {
    await using folder = await TemporaryFolder.create('test-');
    ({ path } = folder);
    assert.ok(path.startsWith(join(tmpdir(), 'farwharf-test-')));
    if (process.platform !== 'win32') assert.equal(statSync(path).mode & 0o777, 0o700);
    writeFileSync(join(path, 'file'), 'x');
  }
  assert.equal(existsSync(path), false);
});

test('a process that exits leaves none of its temporary folders, however many', (t) => {
  const place = mkdtempSync(join(tmpdir(), 'farwharf-exit-'));
  t.after(() => rmSync(place, { recursive: true, force: true }));
  const program = `
    const { TemporaryFolder } = await import(${JSON.stringify(MODULE)});
    const { writeFileSync } = await import('node:fs');
    for (let count = 0; count < 12; count += 1) writeFileSync((await TemporaryFolder.create('many-')).path + '/file', 'x');
    process.exit(3);`;
  const env = { ...process.env, TMPDIR: place, TEMP: place };
  const { status, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', program], {
    env,
    encoding: 'utf8',
  });
  assert.deepEqual([status, stderr], [3, '']);
  assert.deepEqual(readdirSync(place), []);
});
