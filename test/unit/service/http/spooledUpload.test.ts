import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { test } from 'node:test';
import { SpooledUpload } from '../../../../src/service/http/submit/spooledUpload.ts';
import { temporaryFolder } from '../../workspace/temporaryFolder.ts';

const PIECES = Array.from({ length: 10 }, (_, index) => Buffer.alloc(1_000, index));
const ALL = Buffer.concat(PIECES);

test('what fits is kept in memory, and no file is written', async (t) => {
  const path = join(temporaryFolder(t), 'upload');
  const spool = new SpooledUpload(ALL.length, () => path);
  await pipeline(Readable.from(PIECES), spool);
  assert.deepEqual(spool.received, ALL);
  assert.equal(existsSync(path), false);
});

test('what does not fit is in a file, from its first byte on', async (t) => {
  for (const maxBytes of [0, 1, 999, 1_000, 5_500, ALL.length - 1]) {
    const path = join(temporaryFolder(t), 'upload');
    const spool = new SpooledUpload(maxBytes, () => path);
    await pipeline(Readable.from(PIECES), spool);
    assert.equal(spool.received, path);
    assert.ok(readFileSync(path).equals(ALL), `${maxBytes} bytes in memory`);
  }
});

test('a file that cannot be created fails the upload with its error', async (t) => {
  const folder = temporaryFolder(t);
  const missing = new SpooledUpload(10, () => join(folder, 'missing', 'upload'));
  await assert.rejects(pipeline(Readable.from(PIECES), missing), { code: 'ENOENT' });
  const unreachable = new SpooledUpload(10, () => {
    throw new Error('not mounted');
  });
  await assert.rejects(pipeline(Readable.from(PIECES), unreachable), { message: 'not mounted' });
});
