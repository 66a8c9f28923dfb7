import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { digestOf } from '../../../../src/core/files/digest.ts';

test('the digest of a file is its SHA-256', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'farwharf-digest-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const path = join(folder, 'a');
  writeFileSync(path, 'abc');
  // FIPS 180-2, appendix B.1.
  assert.equal(await digestOf(path), 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad');
  await assert.rejects(digestOf(join(folder, 'missing')), { code: 'ENOENT' });
});
