import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { replaceWindowsLineEnds } from '../../../../src/workspace/scripts/lineEnds.ts';
import { temporaryFolder } from '../temporaryFolder.ts';

test('line ends of Windows become LF, and all other bytes and the permissions stay', async (t) => {
  const path = join(temporaryFolder(t), 'run.sh');
  const before = Buffer.from('a\r\nb\rc\n\xff\xfe\r\r\n', 'latin1');
  writeFileSync(path, before, { mode: 0o755 });
  await replaceWindowsLineEnds(path);
  assert.deepEqual(readFileSync(path), Buffer.from('a\nb\rc\n\xff\xfe\r\n', 'latin1'));
  if (process.platform !== 'win32') assert.equal(statSync(path).mode & 0o777, 0o755);
});

test('a link, a folder and a huge file are left alone', { skip: process.platform === 'win32' }, async (t) => {
  const folder = temporaryFolder(t);
  writeFileSync(join(folder, 'outside'), 'a\r\n');
  symlinkSync('outside', join(folder, 'link'));
  mkdirSync(join(folder, 'sub'));
  writeFileSync(join(folder, 'huge'), Buffer.alloc(5 << 20));
  for (const name of ['link', 'sub', 'huge', 'none'])
    await assert.rejects(replaceWindowsLineEnds(join(folder, name)), name);
  assert.equal(readFileSync(join(folder, 'outside'), 'utf8'), 'a\r\n');
});
