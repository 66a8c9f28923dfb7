import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { listZip } from '../../../scripts/zip.ts';

// From Python's zipfile: two files of five bytes, and a comment after the directory.
const ZIP =
  'UEsDBBQAAAAAAAAAISiGphA2BQAAAAUAAAAFAAAAYS50eHRoZWxsb1BLAwQUAAAIAAAAACEohqYQNgUAAAAFAAAACgAAAGRpci/DvC50eHRoZWxsb1BLAQIUAxQAAAAAAAAAISiGphA2BQAAAAUAAAAFAAAAAAAAAAAAAACAAQAAAABhLnR4dFBLAQIUAxQAAAgAAAAAISiGphA2BQAAAAUAAAAKAAAAAAAAAAAAAACAASgAAABkaXIvw7wudHh0UEsFBgAAAAACAAIAawAAAFUAAAAJAGEgY29tbWVudA==';

async function listOf(bytes: Buffer): Promise<string[]> {
  const folder = await mkdtemp(join(tmpdir(), 'farwharf-zip-'));
  try {
    await writeFile(join(folder, 'a.zip'), bytes);
    return await listZip(join(folder, 'a.zip'));
  } finally {
    await rm(folder, { recursive: true });
  }
}

test('the names in a zip file are listed, those that are not ASCII too', async () => {
  assert.deepEqual(await listOf(Buffer.from(ZIP, 'base64')), ['a.txt', 'dir/ü.txt']);
});

test('what is no zip file is said to be none', async () => {
  await assert.rejects(listOf(Buffer.from('just text')), /is not a zip file/);
});
