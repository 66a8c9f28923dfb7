import assert from 'node:assert/strict';
import { test } from 'node:test';
import { encodeHeader, encodeTimes } from '../../../../src/workspace/archive/tarFormat.ts';
import { type TarEntry, TarReader } from '../../../../src/workspace/archive/tarReader.ts';
import { type HeaderFields, paxHeader, tarEnd, tarEntry } from './tarBuilder.ts';

/** Everything that a reader says about an archive, as lines. */
function read(tar: Buffer, pieceBytes = tar.length): string[] {
  const lines: string[] = [];
  let body = '';
  const reader = new TarReader({
    begin: ({ name, type, size, mode }: TarEntry) => void lines.push(`${type} ${name} ${size} ${mode.toString(8)}`),
    data: (bytes) => (body += bytes.toString('latin1')),
    end: () => {
      if (body !== '') lines.push(body);
      body = '';
    },
  });
  for (let at = 0; at < tar.length; at += pieceBytes) reader.write(tar.subarray(at, at + pieceBytes));
  reader.end();
  return lines;
}

const archive = (...entries: readonly Buffer[]): Buffer => Buffer.concat([...entries, tarEnd]);
const one = (fields: HeaderFields): string[] => read(archive(tarEntry(fields)));
const damaged = (what: string) => ({
  code: 'corrupt',
  message: `The archive is damaged: ${what}. Nothing was unpacked; download it again.`,
});
const refused = (what: string) => ({
  code: 'refused',
  message: `The archive was refused: ${what}. Nothing was unpacked.`,
});
const long = (type: 'L' | 'K', name: string): Buffer => tarEntry({ name: '././@LongLink', type, body: name });

test('each type of entry is read, however the archive is cut', () => {
  const tar = archive(
    tarEntry({ name: 'a', body: 'x'.repeat(512) }),
    tarEntry({ name: 'b', body: 'y'.repeat(700), mode: '0000755\0' }),
    tarEntry({ name: 'old', type: '\0' }),
    tarEntry({ name: 'contiguous', type: '7' }),
    tarEntry({ name: 'old/', type: '\0' }),
    tarEntry({ name: 'hard', type: '1' }),
    tarEntry({ name: 'soft', type: '2' }),
    tarEntry({ name: 'character', type: '3' }),
    tarEntry({ name: 'block', type: '4' }),
    tarEntry({ name: 'folder', type: '5' }),
    tarEntry({ name: 'pipe', type: '6' }),
    tarEntry({ name: 'name', prefix: 'pre/fix' }),
    tarEntry({ name: 'gnu', prefix: 'ignored', magic: 'ustar  \0' }),
    tarEntry({ name: 'v7', prefix: 'ignored', magic: '\0'.repeat(8) }),
  );
  const lines = [
    'file a 512 644',
    'x'.repeat(512),
    'file b 700 755',
    'y'.repeat(700),
    'file old 0 644',
    'file contiguous 0 644',
    'directory old/ 0 644',
    'hard link hard 0 644',
    'symbolic link soft 0 644',
    'device character 0 644',
    'device block 0 644',
    'directory folder 0 644',
    'pipe pipe 0 644',
    'file pre/fix/name 0 644',
    'file gnu 0 644',
    'file v7 0 644',
  ];
  for (const bytes of [1, 7, 511, 512, 513, 1_000, 1e6]) assert.deepEqual(read(tar, bytes), lines, `${bytes}`);
});

test('a number is octal, empty, between spaces or binary, and nothing else', () => {
  const sizeOf = (size: string | Buffer): string | undefined => one({ size, body: 'x' })[0];
  const body = 'file file.txt 1 644';
  for (const size of ['00000000001\0', '1          \0', '          1\0', '  1 \0', '000000000001', '1\0garbage']) {
    assert.equal(sizeOf(size), body, size);
  }
  const binary = (...last: readonly number[]): Buffer =>
    Buffer.from([0x80, ...Array.from({ length: 11 - last.length }, () => 0), ...last]);
  assert.equal(sizeOf(binary(1)), body);
  const large = one({ size: binary(1, 44), body: 'z'.repeat(300) });
  assert.deepEqual(large, ['file file.txt 300 644', 'z'.repeat(300)]);
  for (const empty of ['', '\0', '      \0']) {
    assert.deepEqual(one({ size: empty, mode: empty.slice(0, 8) }), ['file file.txt 0 0'], JSON.stringify(empty));
  }
  for (const [size, what] of [
    ['8\0', 'the size "8" of an entry is not a number'],
    ['1 1\0', 'the size "1 1" of an entry is not a number'],
    ['-1\0', 'the size "-1" of an entry is not a number'],
    ['0x1\0', 'the size "0x1" of an entry is not a number'],
    [Buffer.alloc(12, 0xff), 'the size of an entry is negative or too large'],
    [binary(0x20, 0, 0, 0, 0, 0, 0), 'the size of an entry is too large'],
  ] as const) {
    assert.throws(() => sizeOf(size), damaged(what));
  }
  assert.throws(() => one({ mode: 'rw-r--r-' }), damaged('the mode "rw-r--r-" of an entry is not a number'));
});

test('a header that is damaged, of another format or type, is refused', () => {
  assert.throws(() => one({ checksum: '000000\0 ' }), damaged('the checksum of an entry is wrong'));
  assert.throws(() => one({ magic: 'ustar\u000099' }), damaged('the format of an entry is unknown'));
  assert.throws(() => one({ magic: '\0\0\0\0\0\0\0x' }), damaged('the format of an entry is unknown'));
  assert.throws(() => one({ name: 'a', type: 'S' }), refused('"a" has the unknown type "S"'));
  for (const [type, what] of [
    ['1', 'hard link'],
    ['5', 'directory'],
    ['6', 'pipe'],
  ] as const) {
    assert.throws(() => one({ name: 'a', type, body: 'x' }), refused(`"a" is a ${what} with a size`));
  }
});

test('an archive has two empty blocks after its last entry, and nothing but empty blocks after them', () => {
  const entry = tarEntry({ body: 'x' });
  const empty = Buffer.alloc(512);
  assert.equal(read(Buffer.concat([entry, empty, empty, empty])).length, 2);
  const incomplete = damaged('it ends in the middle of an entry');
  for (const bytes of [1, 511, 513, 1_023]) assert.throws(() => read(entry.subarray(0, bytes)), incomplete);
  assert.throws(() => read(Buffer.concat([entry, empty, Buffer.alloc(100)])), incomplete);
  for (const tar of [Buffer.alloc(0), entry, Buffer.concat([entry, empty])]) {
    assert.throws(() => read(tar), damaged('its end is missing'));
  }
  assert.throws(() => read(Buffer.concat([entry, empty, entry, tarEnd])), damaged('there are bytes after its end'));
});

test('a pax header or a long name describes the next entry only', () => {
  const name = `${'folder/'.repeat(40)}file.txt`;
  const after = tarEntry({ name: 'after' });
  assert.deepEqual(read(archive(paxHeader({ path: name, mtime: '1' }), tarEntry({ name: 'x' }), after)), [
    `file ${name} 0 644`,
    'file after 0 644',
  ]);
  assert.deepEqual(read(archive(long('L', `${name}\0`), long('K', 'target\0'), tarEntry({ type: '2' }), after)), [
    `symbolic link ${name} 0 644`,
    'file after 0 644',
  ]);
  assert.deepEqual(read(archive(long('L', name), tarEntry())), [`file ${name} 0 644`]);
  const sized = paxHeader({ size: '3', linkpath: 'target' });
  assert.deepEqual(read(archive(sized, tarEntry({ size: 0, body: 'abc' }))), ['file file.txt 3 644', 'abc']);
  assert.deepEqual(read(archive(paxHeader({ comment: 'commit' }, 'g'), after)), ['file after 0 644']);
});

test('headers that contradict each other, describe nothing or describe every entry are refused', () => {
  const [pax, name, target] = [paxHeader({ mtime: '1' }), long('L', 'name'), long('K', 'target')];
  const twice = refused('two headers describe the same entry');
  for (const pair of [
    [pax, pax],
    [pax, name],
    [pax, target],
    [name, pax],
    [target, pax],
    [name, name],
    [target, target],
  ]) {
    assert.throws(() => read(archive(...pair, tarEntry())), twice);
  }
  assert.equal(read(archive(target, name, tarEntry())).length, 1);
  for (const header of [pax, name, target]) {
    assert.throws(() => read(archive(header)), damaged('a header for the next entry is not followed by one'));
  }
  for (const type of ['x', 'g', 'L', 'K']) {
    assert.throws(() => one({ type }), damaged('a header for the next entry is empty'), type);
    assert.throws(() => one({ type, size: 2 ** 20 + 1 }), {
      code: 'limit',
      message: 'The archive was refused: a name in it is longer than 1 MB.',
    });
  }
  const all = refused('a header changes the names or sizes of all entries');
  assert.throws(() => read(archive(paxHeader({ path: 'a' }, 'g'), tarEntry())), all);
  const bad = refused('a long name is empty or contains a NUL');
  for (const text of ['\0', '\0\0', 'a\0b']) {
    assert.throws(() => read(archive(long('L', text), tarEntry())), bad);
    assert.throws(() => read(archive(long('K', text), tarEntry())), bad);
  }
});

test('the records of a pax header have their lengths, keys and one value each', () => {
  const withBody = (body: string): string[] => read(archive(tarEntry({ type: 'x', body }), tarEntry()));
  const length = damaged('a pax header has a record with a wrong length');
  for (const body of ['x', '9 a=b\n', '5 a=b\n', '06 a=b\n', '6 a=b', '6 a=bx', ' a=b\n', '-6 a=b\n', '0 a=b\n']) {
    assert.throws(() => withBody(body), length, body);
  }
  const key = damaged('a pax header has a record without a key');
  for (const body of ['5 ab\n', '5 ab\n=', '5 =b\n', '4 a\n6 b=c\n']) assert.throws(() => withBody(body), key, body);
  assert.throws(() => withBody('6 a=b\n6 a=c\n'), refused('a pax header has two values for a'));
  for (const name of ['GNU.sparse.major', 'hdrcharset']) {
    const records = paxHeader({ [name]: '1' });
    assert.throws(() => read(archive(records, tarEntry())), refused(`it uses the pax extension ${name}`));
  }
  for (const name of ['path', 'linkpath']) {
    const what = refused('a pax header has an empty name');
    assert.throws(() => read(archive(paxHeader({ [name]: '' }), tarEntry())), what);
  }
  for (const size of ['', '-1', '1.5', '0x1', '9007199254740992', '1'.repeat(17)]) {
    const what = damaged('a pax header has a size that is not a number');
    assert.throws(() => read(archive(paxHeader({ size }), tarEntry())), what, size);
  }
  assert.deepEqual(withBody('6 a=b\n6 c=d\n'), ['file file.txt 0 644']);
});

test('a name is read byte by byte, also one that is not valid UTF-8', () => {
  assert.deepEqual(one({ name: Buffer.of(0x61, 0xff) }), ['file a\udcff 0 644']);
  assert.deepEqual(read(archive(paxHeader({ path: 'a\0b', hdrcharset: 'BINARY' }), tarEntry())), ['file a\0b 0 644']);
});

test('a time is read where there is one, and never a reason to refuse', () => {
  const timesOf = (tar: Buffer): (string | undefined)[] => {
    const found: (string | undefined)[] = [];
    const reader = new TarReader({
      begin: ({ mtime }) => void found.push(mtime),
      data: () => {},
      end: () => {},
      takeTimes: (times) => void found.push(...times),
    });
    reader.write(tar);
    reader.end();
    return found;
  };
  const entries = ['1.5', '-1', '9'.repeat(30), 'now', ''].map((mtime) => [paxHeader({ mtime }), tarEntry()]);
  assert.deepEqual(timesOf(archive(...entries.flat())), ['1.5', '-1', undefined, undefined, undefined]);
  const file = { path: 'a', size: 0, mode: 0o644 };
  const own = ['0', '1', '1700000000', '1700000000.000000001', '-0.5', '99999999999'].map((mtime) => ({
    ...file,
    mtime,
  }));
  const times = own.map(({ mtime }) => mtime);
  const known = times.map((mtime) => (mtime === '0' ? undefined : mtime));
  assert.deepEqual(timesOf(archive(...own.map(encodeHeader), encodeTimes(times))), [...known, ...times]);
  const many = Array.from({ length: 40_000 }, (_, index) => `${index}.123456789`);
  assert.deepEqual(timesOf(archive(encodeTimes(many))), many);
});
