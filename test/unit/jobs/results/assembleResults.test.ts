import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { ArchiveStore } from '../../../../src/jobs/archives/archives.ts';
import { readSegments } from '../../../../src/jobs/archives/archiveSegments.ts';
import { contentsOf } from '../../../../src/jobs/contents/archiveContents.ts';
import { assembleResults } from '../../../../src/jobs/results/fetchArchive.ts';
import { Selections } from '../../../../src/jobs/selection/selections.ts';
import { namesIn } from '../../../../src/remote/protocol/contents.ts';
import { PieceService } from '../contents/resultPieces.ts';
import { makeRecord, tempHome } from '../fixtures.ts';

/** A job that was sent with a file of so many bytes, and a service whose results are the pieces of its archive and one more. */
async function setUp(t: TestContext, bytes: number) {
  const [home, folder] = [tempHome(t), tempHome(t)];
  writeFileSync(join(folder, 'data.bin'), randomBytes(bytes));
  const record = { ...makeRecord(), jobId: 'job-1' };
  const [selections, store] = [new Selections(), new ArchiveStore(home)];
  const { id } = await selections.select(folder, { isTrusted: false });
  await store.prepare();
  const files = { manifest: store.manifestPath(record.id), segments: store.segmentsPath(record.id) };
  await selections.pack(id, store.partPath(record.id), files);
  await store.place(record.id);
  const { archive } = await store.packedFiles(record.id);
  const contents = contentsOf(archive, (await readSegments(files.segments)) ?? []);
  const names = contents.lists.flatMap((list) => namesIn(list.names) ?? []).map((name) => name.toString('hex'));
  const sent = new Map<string, Buffer>();
  for await (const piece of contents.read(new Set(names))) sent.set(piece.name.toString('hex'), piece.bytes);
  const service = new PieceService([...names.map((name) => sent.get(name) ?? assert.fail()), randomBytes(5_000)]);
  const dest = join(home, 'assembled.tar');
  const assemble = async (options: { maxBytes?: number; signal?: AbortSignal } = {}): Promise<boolean> => {
    rmSync(dest, { force: true });
    const onProgress = (): void => {};
    const assembled = await assembleResults({ service, home }, record, {
      dest,
      records: service.records,
      maxBytes: 1e9,
      onProgress,
      ...options,
    });
    return assembled !== undefined;
  };
  const isWhole = (): boolean => readFileSync(dest).equals(Buffer.concat(service.pieces));
  return { service, archive, assemble, isWhole };
}

test('of results, what was sent with the job is not fetched again', async (t) => {
  const { service, assemble, isWhole } = await setUp(t, 400_000);
  assert.equal(await assemble(), true);
  assert.deepEqual([isWhole(), service.asked], [true, [[service.pieces.length - 1]]]);
});

test('results of which little or nothing is on this machine are not put together', async (t) => {
  const small = await setUp(t, 100_000);
  assert.equal(await small.assemble(), false);
  const { service, archive, assemble } = await setUp(t, 400_000);
  writeFileSync(archive, 'damaged');
  assert.equal(await assemble(), false);
  rmSync(archive);
  assert.equal(await assemble(), false);
  assert.deepEqual([small.service.asked, service.asked], [[], []]);
});

test('a list of contents that is not valid, or too long, is refused, and an abort is no damage', async (t) => {
  const { service, assemble } = await setUp(t, 400_000);
  const refusal = {
    code: 'corrupt',
    message: 'The list of the contents of the results is not valid, so nothing was saved. Download them again.',
  };
  await assert.rejects(assemble({ maxBytes: 400_000 }), refusal);
  await assert.rejects(assemble({ signal: AbortSignal.abort(new Error('enough')) }), /^Error: enough$/);
  service.records = service.records.subarray(1);
  await assert.rejects(assemble(), refusal);
});
