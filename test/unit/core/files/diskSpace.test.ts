import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { AppError } from '../../../../src/core/errors.ts';
import { diskError, diskFullError, isDiskFull } from '../../../../src/core/files/diskSpace.ts';

const failure = (fields: object): Error => Object.assign(new Error('write failed'), fields);

test('a full disk, an exceeded quota and a store without space are full disks, and nothing else is', () => {
  for (const fields of [{ code: 'ENOSPC' }, { code: 'EDQUOT' }, { code: 'ERR_SQLITE_ERROR', errcode: 13 }]) {
    assert.equal(isDiskFull(failure(fields)), true, JSON.stringify(fields));
  }
  for (const fields of [{ code: 'EACCES' }, { errcode: 14 }, {}]) {
    assert.equal(isDiskFull(failure(fields)), false, JSON.stringify(fields));
  }
  assert.equal(isDiskFull({ errcode: 13 }), false);
});

test('the error of a full disk names the path of the failed write, or else the given one', () => {
  const other = failure({ code: 'EACCES' });
  assert.equal(diskError(other, '/home'), other);
  const named = diskError(failure({ code: 'ENOSPC', path: '/data/file' }), '/home');
  assert.ok(named instanceof AppError && named.code === 'no-space');
  assert.match(named.message, /holds \/data\/file is full/);
  assert.match((diskError(failure({ code: 'ENOSPC' }), '/home') as Error).message, /holds \/home is full/);
});

test('a check for space leaves nothing behind, and says nothing about a folder that cannot be written', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'farwharf-space-'));
  t.after(() => rmSync(folder, { recursive: true }));
  assert.equal(diskFullError(folder, 1000), undefined);
  assert.deepEqual(readdirSync(folder), []);
  assert.equal(diskFullError(join(folder, 'missing'), 1000), undefined);
});
