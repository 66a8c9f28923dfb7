import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { spawnSync } from 'node:child_process';
import { addToZip, listZip } from '../../../scripts/zip.ts';

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

// The first test, because Zopfli is loaded once.
test('packing changes nothing about uncaught errors of the program that packs', async () => {
  const errorHandlers = () => [process.listeners('uncaughtException'), process.listeners('unhandledRejection')];
  const before = errorHandlers();
  const folder = await mkdtemp(join(tmpdir(), 'farwharf-zip-'));
  try {
    await writeFile(join(folder, 'a.zip'), Buffer.from(ZIP, 'base64'));
    await addToZip(join(folder, 'a.zip'), { 'a.js': 'added' });
    assert.deepEqual(errorHandlers(), before);
  } finally {
    await rm(folder, { recursive: true });
  }
});

test('the names in a zip file are listed, those that are not ASCII too', async () => {
  assert.deepEqual(await listOf(Buffer.from(ZIP, 'base64')), ['a.txt', 'dir/ü.txt']);
});

test('what is no zip file is said to be none', async () => {
  await assert.rejects(listOf(Buffer.from('just text')), /is not a zip file/);
});

test('files are added to a zip file that other programs read', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'farwharf-zip-'));
  try {
    const path = join(folder, 'a.zip');
    await writeFile(path, Buffer.from(ZIP, 'base64'));
    await addToZip(path, { 'dir/new.js': 'added '.repeat(100) });
    assert.deepEqual(await listZip(path), ['a.txt', 'dir/ü.txt', 'dir/new.js']);
    const program = 'import sys, zipfile; z = zipfile.ZipFile(sys.argv[1]); z.testzip(); z.extractall(sys.argv[2])';
    assert.equal(spawnSync('python3', ['-c', program, path, folder]).status, 0);
    assert.equal(await readFile(join(folder, 'dir/new.js'), 'utf8'), 'added '.repeat(100));
    assert.equal(await readFile(join(folder, 'a.txt'), 'utf8'), 'hello');
  } finally {
    await rm(folder, { recursive: true });
  }
});
