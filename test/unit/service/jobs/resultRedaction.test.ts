import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { ResultPieces } from '../../../../src/service/contents/resultPieces.ts';
import { jobFolder } from '../../../../src/service/jobFiles/jobFolder.ts';
import { redactionOf } from '../../../../src/service/jobs/jobSecrets.ts';
import { collectResults } from '../../../../src/service/jobs/jobResults.ts';
import { stageArchive } from '../../../../src/workspace/extract/extract.ts';

const VALUE = 'zebra"crossing/42+ü';
const TEN = 'ten-letter';
const MODIFIED = new Date('2026-01-02T03:04:05.678Z');

/** Packs files as results without the values, and unpacks them. */
async function packed(t: TestContext, files: Readonly<Record<string, string | Buffer>>) {
  const root = mkdtempSync(join(tmpdir(), 'farwharf-redacted-'));
  t.after(() => rmSync(root, { recursive: true }));
  const folder = jobFolder(join(root, 'job'));
  mkdirSync(folder.workspace, { recursive: true });
  writeFileSync(folder.manifest, '[]');
  for (const [path, content] of Object.entries(files)) {
    const file = join(folder.workspace, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, content);
    utimesSync(file, MODIFIED, MODIFIED);
  }
  const limits = { maxBytes: 1e9, redaction: redactionOf([VALUE, TEN]) };
  const results = await collectResults(folder, limits, new AbortController().signal);
  const { staging: staged } = await stageArchive(folder.results, root);
  const read = (path: string): Buffer => readFileSync(join(staged, path));
  return { results, folder, staged, read };
}

test('values are removed from text files, however they are written, and other files stay as they are', async (t) => {
  const plain = (value: string): string => `token = ${value}\nand the rest\n`;
  const files = {
    'a.txt': plain(VALUE),
    'b/base64.json': JSON.stringify({ header: Buffer.from(`user:${VALUE}`).toString('base64') }),
    'b/url.log': encodeURIComponent(VALUE),
    'binary.bin': Buffer.from(`\0${VALUE}`),
    empty: '',
    'latin1.txt': Buffer.concat([Buffer.from([0xff, 0xe9]), Buffer.from(plain(TEN)), Buffer.from([0xc3])]),
    'nothing.txt': 'nothing to see',
    'utf16.txt': Buffer.concat([Buffer.from(`\ufeff${plain(VALUE)}`, 'utf16le'), Buffer.from('x')]),
  };
  const { results, read, staged } = await packed(t, files);
  const removed = plain('[redacted]');
  assert.equal(read('a.txt').toString(), removed);
  assert.match(read('b/base64.json').toString(), /^\{"header":"[^"]{0,8}\[redacted\]=*"\}$/);
  assert.equal(read('b/url.log').toString(), '[redacted]');
  assert.deepEqual(read('binary.bin'), files['binary.bin']);
  const latin1 = [Buffer.from([0xff, 0xe9]), Buffer.from(removed), Buffer.from([0xc3])];
  assert.deepEqual(read('latin1.txt'), Buffer.concat(latin1));
  assert.deepEqual(read('utf16.txt'), Buffer.concat([Buffer.from(`\ufeff${removed}`, 'utf16le'), Buffer.from('x')]));
  assert.deepEqual([read('nothing.txt').toString(), read('empty').length], ['nothing to see', 0]);
  assert.deepEqual(results.redacted, ['a.txt', 'b/base64.json', 'b/url.log', 'latin1.txt', 'utf16.txt']);
  for (const { path, size } of results.files) {
    assert.equal(size, read(path).length, path);
    assert.equal(statSync(join(staged, path)).mtimeMs, MODIFIED.getTime(), path);
  }
});

test('a large text file is rewritten as a whole, and its pieces are those of what comes home', async (t) => {
  const line = 'a line of a log that is as long as others\n';
  const lines = Buffer.from(line.repeat(30_000));
  // Across the border of the parts that are read, and of the same length as what takes its place.
  const border = Buffer.from(lines.subarray(0, (1 << 20) - 5));
  const log = Buffer.concat([border, Buffer.from(TEN), lines]);
  const files = { 'log.txt': log, 'plain.txt': lines, 'weights.bin': randomBytes(1_500_000) };
  const { results, folder, read } = await packed(t, files);
  assert.ok(read('log.txt').equals(Buffer.concat([border, Buffer.from('[redacted]'), lines])));
  assert.ok(read('plain.txt').equals(lines));
  assert.ok(read('weights.bin').equals(files['weights.bin']));
  assert.deepEqual(results.redacted, ['log.txt']);
  await using archive = await open(folder.results);
  assert.deepEqual(results.records, await new ResultPieces().records('job', archive));
});
