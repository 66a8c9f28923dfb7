import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { fetchPieces, fetchRecords, putPieces } from '../../../../src/jobs/contents/fetchContents.ts';
import { TarAssembly } from '../../../../src/jobs/contents/tarAssembly.ts';
import { RemoteError } from '../../../../src/remote/http/remoteErrors.ts';
import { batchEntry, nameOfPiece } from '../../../../src/remote/protocol/contents.ts';
import { tempHome } from '../fixtures.ts';
import { PieceService } from './resultPieces.ts';

const WRONG = {
  code: 'corrupt',
  message:
    'The service sent contents that do not match its own list, so nothing was saved. Download the results again.',
};

async function start(t: TestContext, count = 4) {
  const pieces = Array.from({ length: count }, () => randomBytes(1_000));
  const service = new PieceService(pieces);
  const path = join(tempHome(t), 'assembled.tar');
  const assembly = (await TarAssembly.create(service.records, path, 1e6)) ?? assert.fail();
  t.after(() => assembly[Symbol.asyncDispose]());
  const progress: number[] = [];
  const onProgress = (done: number, total: number): void => {
    assert.equal(total, count * 1_000);
    progress.push(done);
  };
  const isWhole = (): boolean => readFileSync(path).equals(Buffer.concat(pieces));
  return { pieces, service, assembly, progress, onProgress, isWhole };
}

test('the records of results come whole, from a service that offers them', async (t) => {
  const { service } = await start(t, 5);
  assert.deepEqual(await fetchRecords(service, 'j'), service.records);
  for (const features of [undefined, [], ['content']]) {
    service.features = features;
    assert.equal(await fetchRecords(service, 'j'), undefined);
  }
});

test('each request for the records ends with the signal', async () => {
  const { signal } = new AbortController();
  const signals: unknown[] = [];
  const service = {
    me: async (options?: { signal?: AbortSignal }) => {
      signals.push(options?.signal);
      return { features: ['result-content'] };
    },
    async *streamResultContents(_id: string, _wanted?: Uint8Array, options?: { signal?: AbortSignal }) {
      signals.push(options?.signal);
      yield* [];
    },
  };
  assert.equal((await fetchRecords(service, 'j', { signal }))?.length, 0);
  await fetchRecords(service, 'j');
  assert.deepEqual(signals, [signal, signal, undefined, undefined]);
});

test('more records than results can have are not read to their end', async () => {
  const service = new PieceService([]);
  let sent = 0;
  const endless = {
    me: () => service.me(),
    async *streamResultContents(): AsyncGenerator<Uint8Array, void> {
      for (;;) {
        sent += 1;
        yield Buffer.alloc(4 * 2 ** 20);
      }
    },
  };
  assert.equal(await fetchRecords(endless, 'j'), undefined);
  assert.equal(sent, 10);
});

test('a service that refuses to list them is asked for the archive, another failure ends the download', async () => {
  const failing = (error: Error) => ({
    me: async (): Promise<never> => {
      throw error;
    },
    streamResultContents: () => assert.fail(),
  });
  assert.equal(await fetchRecords(failing(new RemoteError(404, 'HTTP 404: none')), 'j'), undefined);
  await assert.rejects(fetchRecords(failing(new Error('no route')), 'j'), /^Error: no route$/);
  const signal = AbortSignal.abort(new Error('enough'));
  await assert.rejects(fetchRecords(failing(new RemoteError(404, 'none')), 'j', { signal }), /^Error: enough$/);
});

test('a refusal is reported if the service offers to list them and has results', async () => {
  const refusedWith = async (status: number, features = ['result-content']): Promise<readonly string[]> => {
    const refusals: string[] = [];
    const service = {
      me: async () => ({ features }),
      async *streamResultContents(): AsyncGenerator<Uint8Array, void> {
        yield Buffer.alloc(0);
        throw new RemoteError(status, `HTTP ${status}: no`);
      },
    };
    const onRefused = (error: unknown): void => void refusals.push(String(error));
    assert.equal(await fetchRecords(service, 'j', { onRefused }), undefined);
    return refusals;
  };
  assert.deepEqual(await refusedWith(503), ['RemoteError: HTTP 503: no']);
  assert.deepEqual(await refusedWith(404), []);
  assert.deepEqual(await refusedWith(503, []), []);
});

test('only pieces that are lacking are fetched, with progress', async (t) => {
  const { pieces, service, assembly, progress, onProgress, isWhole } = await start(t);
  const local = pieces.slice(1, 3).map((bytes) => ({ name: nameOfPiece(bytes), bytes: Buffer.from(bytes) }));
  const changed = { name: nameOfPiece(pieces[0] ?? assert.fail()), bytes: Buffer.from('changed') };
  const held = async function* () {
    yield changed;
    yield* local;
  };
  await putPieces(assembly, held());
  await fetchPieces(service, 'j', assembly, { onProgress });
  assert.deepEqual(service.asked, [[0, 3]]);
  assert.deepEqual(progress, [3_000, 4_000]);
  assert.ok(isWhole());
  await fetchPieces(service, 'j', assembly, { onProgress });
  assert.equal(service.asked.length, 1, 'nothing is lacking');
});

test('pieces on this machine are read only until nothing is lacking', async (t) => {
  const { pieces, assembly } = await start(t, 2);
  let read = 0;
  const held = async function* () {
    for (const bytes of [...pieces, ...pieces]) {
      read += 1;
      yield { name: nameOfPiece(bytes), bytes: Buffer.from(bytes) };
    }
  };
  await putPieces(assembly, held());
  assert.deepEqual([assembly.isComplete, read], [true, 2]);
});

test('after a lost connection, the pieces that are still lacking are fetched, as long as some arrive', async (t) => {
  const { service, assembly, onProgress, isWhole } = await start(t, 3);
  service.send = async function* (bytes) {
    yield bytes.subarray(0, 1_100); // the first piece, and a part of the next
    if (bytes.length > 1_100) throw new Error('the connection was closed');
  };
  await fetchPieces(service, 'j', assembly, { onProgress });
  assert.deepEqual(
    service.asked.map((places) => places.length),
    [3, 2, 1],
  );
  assert.ok(isWhole());
});

test('a connection that is lost again and again without progress is an error', async (t) => {
  const { service, assembly, onProgress } = await start(t);
  service.send = () => {
    throw new Error('the connection was closed');
  };
  await assert.rejects(fetchPieces(service, 'j', assembly, { onProgress }), /the connection was closed/);
  assert.equal(service.asked.length, 4);
});

test('a service that sends something else, or nothing, is not asked again', async (t) => {
  const other = Buffer.from('other');
  for (const send of [
    () => [],
    () => [Buffer.concat(batchEntry(nameOfPiece(other), Buffer.from('no frame')))],
    (bytes: Buffer) => [bytes.subarray(0, 40)],
    (bytes: Buffer) => [Buffer.concat([nameOfPiece(other), bytes.subarray(32)])],
  ]) {
    const { service, assembly, onProgress } = await start(t);
    service.send = send;
    await assert.rejects(fetchPieces(service, 'j', assembly, { onProgress }), WRONG);
    assert.equal(service.asked.length, 1);
  }
});

test('a refusal of the service or an abort ends it at once', async (t) => {
  const { service, assembly, onProgress } = await start(t);
  service.send = () => {
    throw new RemoteError(410, 'HTTP 410: removed');
  };
  await assert.rejects(fetchPieces(service, 'j', assembly, { onProgress }), { status: 410 });
  const controller = new AbortController();
  service.send = () => {
    controller.abort(new Error('enough'));
    throw new Error('the connection was closed');
  };
  const { signal } = controller;
  await assert.rejects(fetchPieces(service, 'j', assembly, { onProgress, signal }), /^Error: enough$/);
  assert.equal(service.asked.length, 2);
});
