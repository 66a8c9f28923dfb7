import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { appendFileSync, renameSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { readAssembledTar } from '../../../../src/workspace/archive/assembledTar.ts';
import { markOf } from '../../../../src/workspace/files/localFile.ts';
import { cannotListOpenFiles, openFilesIn } from '../../openFiles.ts';
import { temporaryFolder } from '../temporaryFolder.ts';

// Several reads, and a rest.
const DATA = randomBytes(3_500_000);

/** A stream that is, but for its ends, a file without its first byte. */
function start(t: TestContext) {
  const folder = temporaryFolder(t);
  const [path, data] = [join(folder, 'assembled'), join(folder, 'data')];
  writeFileSync(data, DATA);
  const bytes = DATA.length - 1;
  writeFileSync(path, Buffer.concat([Buffer.from('head'), Buffer.alloc(bytes), Buffer.from('tail')]));
  const source = { start: 4, bytes, path: data, position: 1, mark: markOf(statSync(data, { bigint: true })) };
  const read = async (sources = [source]): Promise<Buffer> => {
    const chunks: Buffer[] = [];
    try {
      // Each is valid until the next.
      for await (const chunk of readAssembledTar({ path, sources })) chunks.push(Buffer.from(chunk));
    } finally {
      if (!cannotListOpenFiles) assert.deepEqual(openFilesIn(folder), []);
    }
    return Buffer.concat(chunks);
  };
  return { path, data, source, read };
}

test('a stream is what its own file and its sources have', async (t) => {
  const { path, source, read } = start(t);
  const expected = Buffer.concat([Buffer.from('head'), DATA.subarray(1), Buffer.from('tail')]);
  assert.ok((await read()).equals(expected));
  const halves = [
    { ...source, bytes: 1_000_000 },
    { ...source, start: 1_000_004, bytes: source.bytes - 1_000_000, position: 1_000_001 },
  ];
  assert.ok((await read(halves)).equals(expected));
  for await (const chunk of readAssembledTar({ path, sources: [source] })) {
    assert.equal(chunk.toString(), 'head');
    break;
  }
  writeFileSync(path, 'only its own');
  assert.equal((await read([])).toString(), 'only its own');
});

test('a source that has changed since it was checked ends the stream', async (t) => {
  const changes: Record<string, (path: string) => void> = {
    longer: (path) => appendFileSync(path, 'x'),
    shorter: (path) => writeFileSync(path, DATA.subarray(1)),
    replaced: (path) => {
      writeFileSync(`${path}.new`, DATA);
      renameSync(`${path}.new`, path);
    },
    removed: (path) => rmSync(path),
    'a link': (path) => {
      renameSync(path, `${path}.moved`);
      symlinkSync(`${path}.moved`, path);
    },
  };
  for (const [what, change] of Object.entries(changes)) {
    if (what === 'a link' && process.platform === 'win32') continue;
    const { data, read } = start(t);
    change(data);
    await assert.rejects(read(), { code: 'conflict', message: /changed while results were made/ }, what);
  }
});
