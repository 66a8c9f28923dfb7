import assert from 'node:assert/strict';
import { Readable } from 'node:stream';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';
import {
  type KnownRun,
  planArchive,
  planRuns,
  planTar,
  type TarPart,
} from '../../../../src/workspace/extract/planTar.ts';
import { paxHeader, tarEnd, tarEntry } from '../archive/tarBuilder.ts';

const FREE_BYTES = 1e9;
const LONG = `${'folder/'.repeat(150)}long.txt`;
const TAR = Buffer.concat([
  tarEntry({ name: 'large.bin', body: Buffer.alloc(20_000, 'a') }),
  paxHeader({ path: LONG }),
  tarEntry({ name: 'x', body: 'long' }),
  tarEntry({ name: 'link', type: '2', link: 'x' }),
  tarEnd,
]);

function inParts(bytes: number): { parts: TarPart[]; read: Set<number> } {
  const read = new Set<number>();
  const parts = Array.from({ length: Math.ceil(TAR.length / bytes) }, (_, index): TarPart => {
    const part = TAR.subarray(index * bytes, (index + 1) * bytes);
    return {
      size: part.length,
      read: async () => {
        read.add(index);
        return part;
      },
    };
  });
  return { parts, read };
}

test('a tar stream is planned the same however it is cut, and parts inside of a file are not read', async (t) => {
  for (const bytes of [100, 512, 700, 4_096, TAR.length]) {
    const { parts, read } = inParts(bytes);
    const { files, skipped } = await planRuns([{ parts }], FREE_BYTES, t.signal);
    assert.deepEqual(
      files.map(({ path, size }) => [path, size]),
      [
        ['large.bin', 20_000],
        [LONG, 4],
      ],
      `parts of ${bytes} bytes`,
    );
    assert.deepEqual(
      skipped.map(({ path }) => path),
      ['link'],
    );
    // The body of the large file begins after one block.
    const inside = parts.keys().filter((index) => index * bytes >= 512 && (index + 1) * bytes <= 512 + 20_000);
    assert.deepEqual(
      [...inside].filter((index) => read.has(index)),
      [],
    );
  }
});

test('a tar stream without its end is refused', async (t) => {
  const { parts } = inParts(512);
  await assert.rejects(planRuns([{ parts: parts.slice(0, 20) }], FREE_BYTES, t.signal), { code: 'corrupt' });
});

test('runs of parts that were read before are not read again, and give the same plan in any order of cuts', async (t) => {
  const plan = async (bytes: number, perRun: number, known: Map<string, KnownRun>) => {
    const { parts, read } = inParts(bytes);
    const runs = Array.from({ length: Math.ceil(parts.length / perRun) }, (_, index) => ({
      parts: parts.slice(index * perRun, (index + 1) * perRun),
      known: (from: object) => known.get(`${index} ${JSON.stringify(from)}`),
      remember: (from: object, run: KnownRun) => void known.set(`${index} ${JSON.stringify(from)}`, run),
    }));
    const planned = await planRuns(runs, FREE_BYTES, t.signal);
    return { planned, count: read.size };
  };
  for (const bytes of [100, 512, 700, 4_096, TAR.length]) {
    for (const perRun of [1, 3, 1_000]) {
      const known = new Map<string, KnownRun>();
      const first = await plan(bytes, perRun, known);
      const again = await plan(bytes, perRun, known);
      assert.deepEqual(again.planned, first.planned, `${perRun} parts of ${bytes} bytes`);
      assert.ok(again.count < first.count, `${again.count} of ${first.count} parts`);
      if (bytes === 512 && perRun === 1_000) assert.equal(again.count, 0);
    }
  }
});

test('what is known of a run counts for the limits and names of the whole archive', async (t) => {
  const entry = tarEntry({ name: 'a.txt', body: 'x' });
  const run = (bytes: Buffer, known?: KnownRun) => {
    let found: KnownRun | undefined;
    const parts = [{ size: bytes.length, read: async () => bytes }];
    return {
      parts,
      known: () => known,
      remember: (_: object, one: KnownRun) => void (found ??= one),
      found: () => found,
    };
  };
  const first = run(entry);
  await planRuns([first, run(tarEnd)], FREE_BYTES, t.signal);
  const known = first.found();
  assert.deepEqual(known?.events.length, 2);
  await assert.rejects(planRuns([run(entry, known), run(entry, known), run(tarEnd)], FREE_BYTES, t.signal), {
    code: 'refused',
  });
  await assert.rejects(planRuns([run(entry, known)], FREE_BYTES, t.signal), { code: 'corrupt' });
});

test('an archive in memory is planned within its limits, and one that is damaged is refused', async (t) => {
  const { files, skipped } = await planArchive(gzipSync(TAR), FREE_BYTES, t.signal);
  assert.deepEqual([files.map(({ path }) => path), skipped.map(({ path }) => path)], [['large.bin', LONG], ['link']]);
  const stream = await planTar(Readable.from([TAR.subarray(0, 5_000), TAR.subarray(5_000)]), FREE_BYTES, t.signal);
  assert.deepEqual(stream, { files, skipped });
  for (const bytes of [TAR, gzipSync(TAR).subarray(0, -9), gzipSync(TAR.subarray(0, -1_024)), Buffer.alloc(0)]) {
    await assert.rejects(planArchive(bytes, FREE_BYTES, t.signal), { code: 'corrupt' });
  }
  const zeros = gzipSync(Buffer.concat([tarEntry({ name: 'zeros', body: Buffer.alloc(40e6) }), tarEnd]));
  assert.equal((await planArchive(zeros, 1_000, t.signal)).files.length, 1, 'zeros take no space');
  const ones = gzipSync(Buffer.concat([tarEntry({ name: 'ones', body: Buffer.alloc(40e6, 1) }), tarEnd]));
  assert.equal((await planArchive(ones, 40e6, t.signal)).files.length, 1);
  await assert.rejects(planArchive(ones, 40e6 - 1, t.signal), { code: 'no-space' });
  assert.equal((await planArchive(gzipSync(TAR), 20_004, t.signal)).files.length, 2, 'it just fits');
  await assert.rejects(planArchive(gzipSync(TAR), 20_003, t.signal), { code: 'no-space' });
  const signal = AbortSignal.abort(new Error('enough'));
  await assert.rejects(planArchive(gzipSync(TAR), FREE_BYTES, signal), /^Error: enough$/);
});
