import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { hash, randomBytes } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  symlinkSync,
  watch,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { TIMES } from '../../../random.ts';
import { AppError } from '../../../../src/core/errors.ts';
import { LINUX_NAMES, WINDOWS_NAMES } from '../../../../src/workspace/files/nameRules.ts';
import { discardStaged, stageArchive, stageTar } from '../../../../src/workspace/extract/extract.ts';
import { paxHeader, tarEnd, tarEntry, tarGz, writeArchive } from '../archive/tarBuilder.ts';
import { temporaryFolder, writeTree } from '../temporaryFolder.ts';

const good = tarEntry({ name: 'good.txt', body: 'good' });
const long = 'd/'.repeat(70) + 'long-name.txt';

function place(t: TestContext, bytes: Buffer): { archive: string; folder: string } {
  const root = temporaryFolder(t);
  const folder = join(root, 'folder');
  mkdirSync(folder);
  writeTree(folder, { 'mine.txt': 'mine', 'sub/file': 'mine too' });
  return { archive: writeArchive(join(root, 'archive.tar.gz'), bytes), folder };
}

const listing = (folder: string): string[] => readdirSync(folder, { recursive: true, encoding: 'utf8' }).sort();

const ACCEPTED: Record<string, { entries: Buffer[]; files?: Record<string, string>; skipped?: string[] }> = {
  'a plain file': { entries: [good] },
  'a folder from before ustar': {
    entries: [good, tarEntry({ name: 'old/', magic: '\0'.repeat(8) }), tarEntry({ name: 'old/file', body: 'v7' })],
    files: { 'good.txt': 'good', 'old/file': 'v7' },
  },
  'a v7 header': {
    entries: [good, tarEntry({ name: 'old', body: 'v7', magic: '\0'.repeat(8), type: '\0' })],
    files: { old: 'v7' },
  },
  'a GNU header': { entries: [good, tarEntry({ name: 'gnu', body: 'x', magic: 'ustar  \0' })], files: { gnu: 'x' } },
  'a prefix': { entries: [good, tarEntry({ name: 'b', prefix: 'a', body: 'x' })], files: { 'a/b': 'x' } },
  'a pax path': {
    entries: [good, paxHeader({ path: 'päth/ü.txt', mtime: '1.5' }), tarEntry({ name: 'other', body: 'x' })],
    files: { 'päth/ü.txt': 'x' },
  },
  'a pax size': {
    entries: [good, paxHeader({ size: '3' }), tarEntry({ name: 'sized', body: 'abc', size: 0 })],
    files: { sized: 'abc' },
  },
  'a binary size': {
    entries: [good, tarEntry({ name: 'bin', body: 'abc', size: Buffer.from([0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 3]) })],
    files: { bin: 'abc' },
  },
  'a GNU long name': {
    entries: [good, tarEntry({ type: 'L', body: `${long}\0` }), tarEntry({ name: long.slice(0, 100), body: 'x' })],
    files: { [long]: 'x' },
  },
  'a pax header of 1 MB': { entries: [paxHeader({ comment: 'c'.repeat(2 ** 20 - 17) }), good] },
  "git's comment for all": { entries: [paxHeader({ comment: 'abc' }, 'g'), good] },
  'folders and dots': {
    entries: [
      tarEntry({ name: './', type: '5' }),
      tarEntry({ name: './a//b', body: 'x' }),
      tarEntry({ name: 'a/', type: '5' }),
      good,
    ],
    files: { 'a/b': 'x' },
  },
  'an empty file': { entries: [good, tarEntry({ name: 'empty' })], files: { empty: '' } },
  links: {
    entries: [
      good,
      tarEntry({ name: 'up', type: '2', link: '../../etc' }),
      tarEntry({ name: 'hard', type: '1', link: 'good.txt' }),
      tarEntry({ name: 'pipe', type: '6' }),
      tarEntry({ name: 'disk', type: '4' }),
    ],
    skipped: ['up', 'hard', 'pipe', 'disk'],
  },
};

for (const [name, { entries, files = {}, skipped = [] }] of Object.entries(ACCEPTED)) {
  test(`unpacks ${name}`, async (t) => {
    const { archive, folder } = place(t, tarGz(...entries));
    const before = listing(folder);
    const staged = await stageArchive(archive, folder);
    const expected: Record<string, string> = { 'good.txt': 'good', ...files };
    assert.deepEqual(staged.entries.map(({ path }) => path).sort(), Object.keys(expected).sort());
    assert.deepEqual(
      staged.skipped.map(({ path }) => path),
      skipped,
    );
    for (const [path, text] of Object.entries(expected)) {
      assert.equal(readFileSync(join(staged.staging, path), 'utf8'), text);
    }
    await discardStaged(staged);
    assert.deepEqual(listing(folder), before);
  });
}

test('a gzip header may have a name, a comment, extra fields and a checksum of its own', async (t) => {
  const packed = tarGz(good);
  const fields = Buffer.concat([
    Buffer.from([5, 0]),
    Buffer.from('extra'),
    Buffer.from('a.tar\0comment\0'),
    Buffer.alloc(2),
  ]);
  const [head, rest] = [Buffer.from(packed.subarray(0, 10)), packed.subarray(10)];
  head[3] = 0b1_1110; // FCOMMENT, FNAME, FEXTRA and FHCRC (RFC 1952, section 2.3.1)
  const { archive, folder } = place(t, Buffer.concat([head, fields, rest]));
  const staged = await stageArchive(archive, folder);
  assert.equal(readFileSync(join(staged.staging, 'good.txt'), 'utf8'), 'good');
  writeArchive(archive, Buffer.concat([head, Buffer.from([0, 0]), Buffer.alloc(70_000, 'n')]));
  await assert.rejects(stageArchive(archive, folder), { code: 'corrupt', message: /its gzip header does not end/ });
});

const raw = (...parts: readonly Buffer[]): Buffer => gzipSync(Buffer.concat(parts), { level: 1 });
const flipped = (bytes: Buffer, index: number): Buffer => {
  const copy = Buffer.from(bytes);
  copy[index < 0 ? copy.length + index : index] = (copy.at(index) ?? 0) ^ 0xff;
  return copy;
};
const named = (name: string | Buffer): Buffer => tarGz(good, tarEntry({ name, body: 'x' }));
const pair = (first: string, second: string): Buffer =>
  tarGz(good, tarEntry({ name: first, body: '1' }), tarEntry({ name: second, body: '2' }));

const REFUSED: Record<string, { code: string; reason: string; bytes: Buffer }> = {
  'a path that leads up': {
    code: 'refused',
    reason: '"../out.txt" leads out of the folder',
    bytes: named('../out.txt'),
  },
  'a path that leads up from inside': {
    code: 'refused',
    reason: '"a/../../out.txt" leads out of the folder',
    bytes: named('a/../../out.txt'),
  },
  'an absolute path': { code: 'refused', reason: '"/tmp/out.txt" is an absolute path', bytes: named('/tmp/out.txt') },
  'no name': { code: 'refused', reason: 'an entry has no name', bytes: named('') },
  'a file in place of the folder': {
    code: 'refused',
    reason: '"./." is a file in place of the folder itself',
    bytes: named('./.'),
  },
  'a pax path that leads up': {
    code: 'refused',
    reason: '"../x" leads out of the folder',
    bytes: tarGz(paxHeader({ path: '../x' }), good),
  },
  'an empty pax path': {
    code: 'refused',
    reason: 'a pax header has an empty name',
    bytes: tarGz(paxHeader({ path: '' }), good),
  },
  'a GNU long name that leads up': {
    code: 'refused',
    reason: '"../x" leads out of the folder',
    bytes: tarGz(tarEntry({ type: 'L', body: '../x\0' }), good),
  },
  'a GNU long name with a NUL inside': {
    code: 'refused',
    reason: 'a long name is empty or contains a NUL',
    bytes: tarGz(tarEntry({ type: 'L', body: 'a\0b\0' }), good),
  },
  'the same name twice': {
    code: 'refused',
    reason: '"a" is in it twice',
    bytes: pair('a', 'a'),
  },
  'a file and a folder of one name': {
    code: 'refused',
    reason: '"a/b" is below "a", which is not a folder',
    bytes: pair('a', 'a/b'),
  },
  'a folder and a file of one name': {
    code: 'refused',
    reason: '"a" is in it twice',
    bytes: pair('a/b', 'a'),
  },
  'a file through a link': {
    code: 'refused',
    reason: '"l/x" is below "l", which is not a folder',
    bytes: tarGz(good, tarEntry({ name: 'l', type: '2', link: '/tmp' }), tarEntry({ name: 'l/x', body: '1' })),
  },
  'a link and a file of one name': {
    code: 'refused',
    reason: '"l" is in it twice',
    bytes: tarGz(good, tarEntry({ name: 'l', type: '2', link: '/tmp/x' }), tarEntry({ name: 'l', body: '1' })),
  },
  'a link with a body': {
    code: 'refused',
    reason: '"l" is a symbolic link with a size',
    bytes: tarGz(good, tarEntry({ name: 'l', type: '2', link: 'x', body: 'abc' })),
  },
  'a folder with a body': {
    code: 'refused',
    reason: '"d/" is a directory with a size',
    bytes: tarGz(good, tarEntry({ name: 'd/', type: '5', body: 'abc' })),
  },
  'a sparse file': {
    code: 'refused',
    reason: '"s" has the unknown type "S"',
    bytes: tarGz(good, tarEntry({ name: 's', type: 'S', body: 'abc' })),
  },
  'a pax sparse file': {
    code: 'refused',
    reason: 'it uses the pax extension GNU.sparse.name',
    bytes: tarGz(paxHeader({ 'GNU.sparse.name': 'x' }), good),
  },
  'an unknown type': {
    code: 'refused',
    reason: '"s" has the unknown type "Q"',
    bytes: tarGz(good, tarEntry({ name: 's', type: 'Q' })),
  },
  'a path for all entries': {
    code: 'refused',
    reason: 'a header changes the names or sizes of all entries',
    bytes: tarGz(paxHeader({ path: 'x' }, 'g'), good),
  },
  'two pax headers for one entry': {
    code: 'refused',
    reason: 'two headers describe the same entry',
    bytes: tarGz(paxHeader({ path: 'x' }), paxHeader({ path: 'y' }), good),
  },
  'a pax header for a long name': {
    code: 'refused',
    reason: 'two headers describe the same entry',
    bytes: tarGz(paxHeader({ path: 'x' }), tarEntry({ type: 'L', body: 'y\0' }), good),
  },
  'a GNU and a pax name for one entry': {
    code: 'refused',
    reason: 'two headers describe the same entry',
    bytes: tarGz(tarEntry({ type: 'L', body: 'y\0' }), paxHeader({ path: 'x' }), good),
  },
  'two values for one key': {
    code: 'refused',
    reason: 'a pax header has two values for path',
    bytes: tarGz(tarEntry({ type: 'x', body: '9 path=a\n9 path=b\n' }), good),
  },
  'a wrong record length': {
    code: 'corrupt',
    reason: 'a pax header has a record with a wrong length',
    bytes: tarGz(tarEntry({ type: 'x', body: '99 path=a\n' }), good),
  },
  'a negative record length': {
    code: 'corrupt',
    reason: 'a pax header has a record with a wrong length',
    bytes: tarGz(tarEntry({ type: 'x', body: '-9 path=a\n' }), good),
  },
  'a record without a key': {
    code: 'corrupt',
    reason: 'a pax header has a record without a key',
    bytes: tarGz(tarEntry({ type: 'x', body: '5 =a\n' }), good),
  },
  'a pax size that is no number': {
    code: 'corrupt',
    reason: 'a pax header has a size that is not a number',
    bytes: tarGz(paxHeader({ size: '-1' }), good),
  },
  'a pax size beyond all numbers': {
    code: 'corrupt',
    reason: 'a pax header has a size that is not a number',
    bytes: tarGz(paxHeader({ size: '9'.repeat(16) }), good),
  },
  'a pax header without an entry': {
    code: 'corrupt',
    reason: 'a header for the next entry is not followed by one',
    bytes: tarGz(good, paxHeader({ path: 'x' })),
  },
  'a pax header of 2 MB': {
    code: 'limit',
    reason: 'a name in it is longer than 1 MB',
    bytes: tarGz(tarEntry({ type: 'x', body: Buffer.alloc(2 << 20) }), good),
  },
  'a wrong checksum': {
    code: 'corrupt',
    reason: 'the checksum of an entry is wrong',
    bytes: tarGz(good, tarEntry({ checksum: '000001\0 ' })),
  },
  'a checksum that is no number': {
    code: 'corrupt',
    reason: 'the checksum "zzzzzz" of an entry is not a number',
    bytes: tarGz(good, tarEntry({ checksum: 'zzzzzz\0 ' })),
  },
  'an unknown format': {
    code: 'corrupt',
    reason: 'the format of an entry is unknown',
    bytes: tarGz(good, tarEntry({ magic: 'mutar\u000000' })),
  },
  'a size that is no number': {
    code: 'corrupt',
    reason: 'the size "0000000012x" of an entry is not a number',
    bytes: tarGz(good, tarEntry({ size: '0000000012x' })),
  },
  'a negative size': {
    code: 'corrupt',
    reason: 'the size of an entry is negative or too large',
    bytes: tarGz(good, tarEntry({ size: Buffer.alloc(12, 0xff) })),
  },
  'a size beyond all numbers': {
    code: 'corrupt',
    reason: 'the size of an entry is too large',
    bytes: tarGz(good, tarEntry({ size: Buffer.concat([Buffer.from([0x80]), Buffer.alloc(11, 0xee)]) })),
  },
  'entries after the end': {
    code: 'corrupt',
    reason: 'there are bytes after its end',
    bytes: raw(good, tarEnd, tarEntry({ name: 'late' }), tarEnd),
  },
  'one empty block at the end': { code: 'corrupt', reason: 'its end is missing', bytes: raw(good, Buffer.alloc(512)) },
  'no end': { code: 'corrupt', reason: 'its end is missing', bytes: raw(good) },
  'an incomplete last block': {
    code: 'corrupt',
    reason: 'it ends in the middle of an entry',
    bytes: raw(good, tarEnd, Buffer.alloc(100)),
  },
  'two gzip members': {
    code: 'corrupt',
    reason: 'there are bytes after its end',
    bytes: Buffer.concat([tarGz(good), tarGz(good)]),
  },
  'bytes after the gzip member': {
    code: 'corrupt',
    reason: 'there are bytes after its end',
    bytes: Buffer.concat([tarGz(good), Buffer.from('trailing garbage')]),
  },
  'a wrong gzip checksum': { code: 'corrupt', reason: 'its checksum is wrong', bytes: flipped(tarGz(good), -7) },
  'a wrong gzip length': { code: 'corrupt', reason: 'its checksum is wrong', bytes: flipped(tarGz(good), -2) },
  'damage in the middle': {
    code: 'corrupt',
    reason: 'its compressed data is incomplete or not valid',
    bytes: flipped(tarGz(good), 40),
  },
  'a tar that is not packed': {
    code: 'corrupt',
    reason: 'it is not a gzip file',
    bytes: Buffer.concat([good, tarEnd]),
  },
  'a web page': {
    code: 'corrupt',
    reason: 'it is not a gzip file',
    bytes: Buffer.from('<!doctype html><title>Sign in</title>'),
  },
  'no bytes': { code: 'corrupt', reason: 'it is not a gzip file', bytes: Buffer.alloc(0) },
  'reserved gzip flags': {
    code: 'corrupt',
    reason: 'its gzip header uses reserved flags',
    bytes: flipped(tarGz(good), 3),
  },
};

const MESSAGES: Readonly<Record<string, (reason: string) => string>> = {
  corrupt: (reason) => `The archive is damaged: ${reason}. Nothing was unpacked; download it again.`,
  refused: (reason) => `The archive was refused: ${reason}. Nothing was unpacked.`,
  limit: (reason) => `The archive was refused: ${reason}.`,
};

for (const [name, { code, reason, bytes }] of Object.entries(REFUSED)) {
  test(`refuses ${name} and leaves the folder as it was`, async (t) => {
    const { archive, folder } = place(t, bytes);
    const before = listing(folder);
    await assert.rejects(stageArchive(archive, folder), { name: 'AppError', code, message: MESSAGES[code]?.(reason) });
    assert.deepEqual(listing(folder), before);
    assert.equal(readFileSync(join(folder, 'mine.txt'), 'utf8'), 'mine');
  });
}

test('an archive that is cut anywhere is refused', async (t) => {
  const tar = Buffer.concat([
    good,
    tarEntry({ name: 'second', body: 'b'.repeat(700) }),
    paxHeader({ path: 'p' }),
    good,
    tarEnd,
  ]);
  const { archive, folder } = place(t, Buffer.alloc(0));
  const before = listing(folder);
  for (let length = 0; length < tar.length; length += 128) {
    writeArchive(archive, gzipSync(tar.subarray(0, length)));
    await assert.rejects(stageArchive(archive, folder), { code: 'corrupt' }, `cut at ${length}`);
  }
  const packed = gzipSync(tar);
  for (let length = 0; length < packed.length; length += 7) {
    writeArchive(archive, packed.subarray(0, length));
    await assert.rejects(stageArchive(archive, folder), { code: 'corrupt' }, `packed, cut at ${length}`);
  }
  assert.deepEqual(listing(folder), before);
});

test('damaged bytes are refused or harmless: nothing is ever written outside the staging folder', async (t) => {
  const { archive, folder } = place(t, Buffer.alloc(0));
  const before = listing(folder);
  const tar = Buffer.concat([
    tarEntry({ name: 'a/b.txt', body: 'b' }),
    paxHeader({ path: 'ä/long.txt', size: '3' }),
    tarEntry({ name: 'short-1', body: 'abc' }),
    tarEntry({ type: 'L', body: 'gnu/long.txt\0' }),
    tarEntry({ name: 'short-2', body: 'y' }),
    tarEntry({ name: 'link-1', type: '2', link: '../..' }),
    tarEnd,
  ]);
  const names = ['a/b.txt', 'ä/long.txt', 'short-1', 'gnu/long.txt', 'short-2', 'link-1'].map((name) =>
    tar.indexOf(name),
  );
  const waysOut = ['../', '../../', '../../../', '/', 'a/../../../', './../../'];
  let state = 20_251_120;
  const next = (below: number): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
  for (let round = 0; round < 150 * TIMES; round++) {
    const bytes = Buffer.from(tar);
    for (let i = next(4); i >= 0; i--) {
      const offset = next(tar.length - tarEnd.length);
      bytes[offset] = next(2) === 0 ? next(256) : (Buffer.from('0 /.\0x').at(next(6)) ?? 0);
    }
    // Few random bytes make a name that leads out.
    if (next(2) === 0) bytes.write(waysOut[next(waysOut.length)] ?? '', names[next(names.length)] ?? 0);
    if (next(2) === 0) fixChecksums(bytes);
    writeArchive(archive, gzipSync(bytes, { level: 1 }));
    try {
      const staged = await stageArchive(archive, folder);
      assert.deepEqual(
        listing(folder).filter((path) => !path.startsWith('.farwharf-staging-')),
        before,
      );
      await discardStaged(staged);
    } catch (error) {
      assert.ok(error instanceof AppError, `round ${round}: ${String(error)}`);
    }
    assert.deepEqual(listing(folder), before);
  }
  assert.deepEqual(readdirSync(join(folder, '..')).sort(), ['archive.tar.gz', 'folder']);
});

/** Makes the sums right again, so that the damage reaches what lies behind them. */
function fixChecksums(tar: Buffer): void {
  for (let offset = 0; offset < tar.length - tarEnd.length; offset += 512) {
    const header = tar.subarray(offset, offset + 512);
    if (header.toString('latin1', 257, 262) !== 'ustar') continue;
    header.write('        ', 148, 'latin1');
    const sum = header.reduce((total, byte) => total + byte, 0);
    header.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148, 'latin1');
  }
}

test('a name that cannot be written here becomes one that can, and everything else comes', async (t) => {
  const names = [
    'T:300K.csv',
    'what?.txt',
    'aux.txt',
    'trail.',
    'a\\b',
    'a\u001b[2Jb',
    'a\nb',
    'File',
    'file',
    'C:out.txt',
  ];
  const entries = names.map((name) => tarEntry({ name, body: name }));
  const bytes = tarGz(
    good,
    ...entries,
    tarEntry({ name: Buffer.from([0x61, 0xff, 0x62]), body: 'bytes' }),
    paxHeader({ path: 'n\0l' }),
    tarEntry({ body: 'nul' }),
    paxHeader({ path: `${'n'.repeat(300)}.csv` }),
    tarEntry({ body: 'long' }),
    paxHeader({ path: `${'d/'.repeat(300)}b` }),
    tarEntry({ body: 'deep' }),
  );
  const { archive, folder } = place(t, bytes);
  const expected: Record<string, Record<string, string>> = {
    linux: { 'a\u001b[2Jb': 'a_[2Jb', 'a\nb': 'a_b' },
    win32: {
      'T:300K.csv': 'T_300K.csv',
      'what?.txt': 'what_.txt',
      'aux.txt': 'aux_.txt',
      'trail.': 'trail_',
      'a\\b': 'a_b',
      'a\u001b[2Jb': 'a_[2Jb',
      'a\nb': 'a_b 2',
      file: 'file 2',
      'C:out.txt': 'C_out.txt',
    },
  };
  const always = { 'a\udcffb': 'a%FFb', 'n\0l': 'n_l', [`${'n'.repeat(300)}.csv`]: `${'n'.repeat(251)}.csv` };
  for (const [platform, rules] of [
    ['linux', LINUX_NAMES],
    ['win32', WINDOWS_NAMES],
  ] as const) {
    const staged = await stageArchive(archive, folder, { rules });
    const renamed = staged.entries.flatMap(({ name, path }) => (name === undefined ? [] : [[name, path]]));
    assert.deepEqual(Object.fromEntries(renamed), { ...expected[platform], ...always });
    for (const { name, path } of staged.entries) {
      const body = names.includes(name ?? path) ? (name ?? path) : undefined;
      if (body !== undefined) assert.equal(readFileSync(join(staged.staging, path), 'utf8'), body);
    }
    assert.equal(staged.entries.length, names.length + 4);
    assert.deepEqual(staged.skipped, [{ path: `${'d/'.repeat(300)}b`, reason: 'its folders are nested too deeply' }]);
    assert.equal(staged.entries.find(({ path }) => path === 'file 2')?.twin, platform === 'win32' ? 'File' : undefined);
    await discardStaged(staged);
  }
});

test('a name that only the disk refuses is skipped, and everything else comes', async (t) => {
  if (process.platform === 'win32') return t.skip('names on Windows are shorter than what its rules allow here');
  const lengthOf = (): number => 0; // such as on a file system for encrypted files, whose names are shorter
  const { archive, folder } = place(t, tarGz(paxHeader({ path: 'n'.repeat(300) }), tarEntry(), good));
  const staged = await stageArchive(archive, folder, { rules: { ...LINUX_NAMES, lengthOf } });
  assert.deepEqual(
    staged.entries.map(({ path }) => path),
    ['good.txt'],
  );
  assert.deepEqual(staged.skipped, [{ path: 'n'.repeat(300), reason: 'this disk cannot hold a file of this name' }]);
});

test('what compresses to nothing is unpacked, up to the limit on the total', async (t) => {
  const zeros = Buffer.alloc(64 << 20);
  const { archive, folder } = place(t, gzipSync(Buffer.concat([tarEntry({ name: 'zeros', body: zeros }), tarEnd])));
  const limits = { totalBytes: zeros.length - 1, raise: 'Raise it.' };
  await assert.rejects(stageArchive(archive, folder, { limits }), {
    code: 'limit',
    message: 'The archive was refused: it unpacks to more than 67.1 MB. Raise it.',
  });
  assert.deepEqual(listing(folder), ['mine.txt', 'sub', 'sub/file']);
  const staged = await stageArchive(archive, folder, { limits: { totalBytes: zeros.length }, isHashed: true });
  assert.equal(staged.totalBytes, zeros.length);
  assert.deepEqual(staged.hashes, [hash('sha256', zeros)]);
  const { size, blocks } = statSync(join(staged.staging, 'zeros'));
  assert.equal(size, zeros.length);
  if (process.platform !== 'win32') assert.ok(blocks * 512 < 1e6, `${blocks} blocks`);
});

test('holes stay where they are between other bytes', async (t) => {
  const body = Buffer.alloc(1_000_000);
  for (const at of [0, 1, 70_000, 400_001, 999_999]) body[at] = 7;
  for (const bytes of [body, body.subarray(0, 500_000), Buffer.alloc(20_000), Buffer.alloc(1)]) {
    const { archive, folder } = place(t, tarGz(tarEntry({ name: 'holes', body: bytes }), good));
    const { staging, hashes } = await stageArchive(archive, folder, { isHashed: true });
    assert.ok(readFileSync(join(staging, 'holes')).equals(bytes));
    assert.equal(hashes[0], hash('sha256', bytes));
  }
});

test('limits on bytes and entries hold, and say so', async (t) => {
  const { archive, folder } = place(t, tarGz(good, tarEntry({ name: 'a/b/c', body: 'x' })));
  await assert.rejects(stageArchive(archive, folder, { limits: { totalBytes: 4 } }), { code: 'limit' });
  await assert.rejects(stageArchive(archive, folder, { limits: { entries: 1 } }), { code: 'limit' });
});

test('a 10 KB archive with 144,000 folders is refused before any is created', async (t) => {
  const deep = (index: number): Buffer[] => [
    paxHeader({ path: `${index}/${'d/'.repeat(239)}file` }),
    tarEntry({ name: 'x', body: '' }),
  ];
  const { archive, folder } = place(t, tarGz(...Array.from({ length: 600 }, (_, index) => deep(index)).flat()));
  const made = await namesMade(folder, () =>
    assert.rejects(stageArchive(archive, folder), { code: 'limit', message: /folders/ }),
  );
  assert.deepEqual(made, []);
});

test('nothing is created before the last entry of an archive was checked', async (t) => {
  const { archive, folder } = place(t, pair('a', '../out'));
  const made = await namesMade(folder, () => assert.rejects(stageArchive(archive, folder), { code: 'refused' }));
  assert.deepEqual(made, []);
});

/** The names that appear in a folder meanwhile, also those that are gone afterwards. */
async function namesMade(folder: string, work: () => Promise<void>): Promise<string[]> {
  const names: string[] = [];
  const last = Promise.withResolvers<void>();
  const watcher = watch(folder, (_, name) => {
    if (name === 'last') last.resolve();
    else if (name !== null) names.push(name);
  });
  try {
    await work();
    writeFileSync(join(folder, 'last'), ''); // events come in order: those before it have come when it has
    await last.promise;
    return names;
  } finally {
    watcher.close();
  }
}

test('limits on folders, path components, name bytes and time hold', async (t) => {
  const { archive, folder } = place(t, tarGz(good, tarEntry({ name: 'a/b/c', body: 'x' })));
  for (const [limits, message] of [
    [{ folders: 1 }, /more than 1 folder/],
    [{ components: 3 }, /more than 3 names/],
    [{ nameBytes: 12 }, /longer than 12 B/],
    [{ seconds: 0 }, /takes more than/],
  ] as const) {
    await assert.rejects(stageArchive(archive, folder, { limits }), { code: 'limit', message });
  }
  const limits = { folders: 2, components: 4, nameBytes: 13 };
  assert.equal((await stageArchive(archive, folder, { limits })).entries.length, 2);
});

test('nothing is written outside if a folder is replaced by a link during unpacking', async (t) => {
  if (process.platform === 'win32') return t.skip('making a link needs a right on Windows');
  const files = Array.from({ length: 4_000 }, (_, index) => tarEntry({ name: `out/${index}`, body: 'r' }));
  const { archive, folder } = place(t, tarGz(...files));
  const outside = temporaryFolder(t);
  const state = { isSwapped: false, isOver: false };
  const unpacking = stageArchive(archive, folder)
    .catch(() => undefined) // refused, or unpacked into the folder that was moved away: both are right
    .finally(() => (state.isOver = true));
  while (!state.isSwapped && !state.isOver) {
    await nextTurn();
    const staging = readdirSync(folder).find((name) => name.startsWith('.farwharf-staging-'));
    const out = join(folder, staging ?? '', 'files/out');
    if (staging === undefined || !existsSync(out)) continue;
    renameSync(out, join(folder, '..', 'moved'));
    symlinkSync(outside, out);
    state.isSwapped = true;
  }
  await unpacking;
  assert.ok(state.isSwapped, 'the files were unpacked before the folder could be swapped');
  assert.deepEqual(readdirSync(outside), []);
});

test('modes keep the right to execute and nothing else', async (t) => {
  if (process.platform === 'win32') return t.skip('Windows has no mode bits');
  const { archive, folder } = place(
    t,
    tarGz(tarEntry({ name: 'run', mode: '0006777\0' }), tarEntry({ name: 'read', mode: '0000600\0' })),
  );
  const staged = await stageArchive(archive, folder);
  assert.deepEqual(
    staged.entries.map(({ path, mode }) => [path, mode]),
    [
      ['run', 0o755],
      ['read', 0o644],
    ],
  );
  assert.equal(statSync(join(staged.staging, 'run')).mode & 0o7000, 0);
});

test('an abort leaves nothing behind, and a folder that did not exist does not exist', async (t) => {
  const { archive, folder } = place(t, tarGz(tarEntry({ name: 'big', body: Buffer.alloc(8 << 20, 'abc') })));
  const controller = new AbortController();
  const onProgress = (): void => controller.abort();
  await assert.rejects(stageArchive(archive, folder, { signal: controller.signal, onProgress }), {
    name: 'AbortError',
  });
  assert.deepEqual(listing(folder), ['mine.txt', 'sub', 'sub/file']);
  writeArchive(archive, named('../x'));
  await assert.rejects(stageArchive(archive, join(folder, 'new/deep')), { code: 'refused' });
  assert.equal(existsSync(join(folder, 'new')), false);
  await assert.rejects(stageArchive(join(folder, 'none'), folder), { code: 'missing' });
});

test('a full disk is a clear failure that leaves nothing behind', async (t) => {
  const { archive, folder } = place(t, Buffer.alloc(0));
  const small = join(folder, 'small');
  mkdirSync(small);
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=4m', 'tmpfs', small], { stdio: 'ignore' });
  } catch {
    return t.skip('SKIPPED: no right to mount a small disk here');
  }
  try {
    await fillDisk(archive, small);
  } finally {
    execFileSync('umount', [small]);
  }
});

async function fillDisk(archive: string, small: string): Promise<void> {
  // Two files, so that the second one meets a disk which another program filled meanwhile.
  const body = Buffer.from(Array.from({ length: 3 << 20 }, (_, i) => (i * 2_654_435_761) >>> 13));
  writeArchive(archive, tarGz(tarEntry({ name: 'a', body }), tarEntry({ name: 'b', body })));
  await assert.rejects(stageArchive(archive, small), { code: 'no-space' });
  assert.deepEqual(listing(small), []);

  let isFull = false;
  const onProgress = (): void => {
    if (!isFull)
      execFileSync('dd', ['if=/dev/zero', `of=${join(small, 'other')}`, 'bs=1M', 'count=3'], { stdio: 'ignore' });
    isFull = true;
  };
  writeArchive(archive, tarGz(tarEntry({ name: 'a', body })));
  await assert.rejects(stageArchive(archive, small, { onProgress }), { code: 'no-space' });
  assert.deepEqual(listing(small), ['other']);
}

test('each limit is said with what the archive exceeds', async (t) => {
  const { archive, folder } = place(t, tarGz(good, tarEntry({ name: 'a/b/c', body: 'x' })));
  const refusalOf = async (limits: object): Promise<string> => {
    const error = await stageArchive(archive, folder, { limits }).catch((caught: unknown) => caught);
    return error instanceof AppError ? error.message : 'accepted';
  };
  const refused = (what: string): string => `The archive was refused: ${what}. Reduce the number or size of its files.`;
  assert.equal(await refusalOf({ entries: 1 }), refused('it has more than 1 entry'));
  assert.equal(await refusalOf({ entries: 0 }), refused('it has more than 0 entries'));
  assert.equal(await refusalOf({ totalBytes: 4 }), refused('it unpacks to more than 4 B'));
  assert.equal(await refusalOf({ folders: 1 }), refused('it has more than 1 folder'));
  assert.equal(await refusalOf({ folders: 0 }), refused('it has more than 0 folders'));
  assert.equal(await refusalOf({ components: 1 }), refused('it has more than 1 name in its paths'));
  assert.equal(await refusalOf({ components: 3 }), refused('it has more than 3 names in its paths'));
  assert.equal(await refusalOf({ nameBytes: 12 }), refused('its names are longer than 12 B together'));
  assert.equal(await refusalOf({ seconds: 0 }), refused('it takes more than 0.0 s to unpack'));
  assert.equal(await refusalOf({ entries: 2, totalBytes: 5, depth: 3 }), 'accepted');
});

test('what is skipped has its reason, and an archive that is not there is said', async (t) => {
  const { archive, folder } = place(
    t,
    tarGz(
      good,
      tarEntry({ name: 's', type: '2' }),
      tarEntry({ name: 'h', type: '1' }),
      tarEntry({ name: 'p', type: '6' }),
      tarEntry({ name: 'd', type: '3' }),
    ),
  );
  const { skipped } = await stageArchive(archive, folder);
  assert.deepEqual(
    skipped.map(({ path, reason }) => [path, reason]),
    [
      ['s', 'a symbolic link, which is never created'],
      ['h', 'a hard link, which is never created'],
      ['p', 'a pipe, which is never created'],
      ['d', 'a device, which is never created'],
    ],
  );
  const missing = join(folder, 'none.tar.gz');
  await assert.rejects(stageArchive(missing, folder), {
    code: 'missing',
    message: `The archive ${missing} does not exist. Download it again.`,
  });
});

test('a tar stream may use the memory of its parts again', async (t) => {
  const files = [3_000_000, 70_000, 10, 2_500_000].map((size, index) => ({
    name: `file${index}`,
    body: randomBytes(size),
  }));
  const tar = Buffer.concat([...files.map((file) => tarEntry(file)), tarEnd]);
  function* parts(): Generator<Buffer, void> {
    const memory = Buffer.alloc(100_000);
    for (let start = 0; start < tar.length; start += memory.length) {
      yield memory.subarray(0, tar.copy(memory, 0, start));
      memory.fill(0);
    }
  }
  const staged = await stageTar(parts(), temporaryFolder(t));
  for (const { name, body } of files) {
    assert.ok(readFileSync(join(staged.staging, name)).equals(body), name);
  }
});
