import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { gunzip } from '../../../../src/workspace/archive/gzipReader.ts';
import { StoredGzip } from '../../../../src/workspace/archive/storedGzip.ts';
import { temporaryFolder } from '../temporaryFolder.ts';

test('bytes that are stored as gzip are read back by zlib and by our own reader', async (t) => {
  const path = join(temporaryFolder(t), 'stored.gz');
  for (const sizes of [[], [0], [1], [65_535], [65_536, 1], [262_144, 3, 1_500_000, 70_000]]) {
    const pieces = sizes.map((size) => randomBytes(size));
    const written: Buffer[] = [];
    const gzip = new StoredGzip(async (bytes) => void written.push(bytes));
    for (const piece of pieces) await gzip.write(piece);
    await gzip.end();
    writeFileSync(path, Buffer.concat(written));
    const read: Buffer[] = [];
    for await (const chunk of gunzip(path, { onBytes: () => {} })) read.push(chunk);
    const expected = Buffer.concat(pieces);
    assert.ok(Buffer.concat(read).equals(expected), sizes.join());
    assert.ok(gunzipSync(Buffer.concat(written)).equals(expected), sizes.join());
  }
});
