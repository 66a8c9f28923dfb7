import assert from 'node:assert/strict';
import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { subscribe } from 'node:diagnostics_channel';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { RAGNode } from '../../../../src/agents/index.ts';
import { openEmbedder } from '../../../../src/agents/rag/openEmbedder.ts';
import { Index } from '../../../../src/retrieval/index/index.ts';
import type { Embedder } from '../../../../src/retrieval/semantic/embedTexts.ts';
import { type EmbeddingProgress, FolderVectors } from '../../../../src/retrieval/semantic/folderVectors.ts';
import { KEEPS_CONNECTIONS } from '../../timeLimits.ts';

type Answer = (input: readonly string[], response: ServerResponse, request: IncomingMessage) => void;

const json = (response: ServerResponse, status: number, body: object, headers = {}): void =>
  void response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));

const vectors: Answer = (input, response) =>
  json(response, 200, { data: input.map((text, index) => ({ index, embedding: [text.length, 1, 0] })) });

const busy =
  (retryAfter: string): Answer =>
  (_input, response) =>
    json(response, 429, { error: { message: 'slow down' } }, { 'retry-after': retryAfter });

/** An embeddings service: answers in turn, the last one for all that follow. */
async function service(t: TestContext, ...answers: Answer[]): Promise<{ embedder: Embedder; asked: string[][] }> {
  const asked: string[][] = [];
  const server = createServer(KEEPS_CONNECTIONS, (request, response) => {
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () => {
      const { input } = JSON.parse(Buffer.concat(parts).toString()) as { input: string[] };
      asked.push(input);
      answers[Math.min(asked.length, answers.length) - 1]?.(input, response, request);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
  const embedder = await openEmbedder({ provider: 'openai', model: 'small', apiKey: 'sk-secret-key', baseUrl });
  return { embedder, asked };
}

async function indexed(t: TestContext, files: Readonly<Record<string, string>>) {
  const base = await realpath(await mkdtemp(join(tmpdir(), 'farwharf-embed-')));
  t.after(() => rm(base, { recursive: true, force: true, maxRetries: 5 }));
  const [root, home] = [join(base, 'folder'), join(base, 'home')];
  await mkdir(root);
  const listed = Object.entries(files).map(async ([path, text]) => {
    await writeFile(join(root, path), text);
    return { path, size: text.length, mtimeMs: 1 };
  });
  const index = await Index.open({ root, home });
  t.after(() => index[Symbol.dispose]());
  await index.sync(await Promise.all(listed));
  return { root, home, index };
}

test('a folder is embedded by a service that is busy at times, which is reported while it waits', async (t) => {
  const { embedder, asked } = await service(t, busy('0.01'), busy('0.02'), vectors);
  const { root, home, index } = await indexed(t, { 'a.txt': 'alpha', 'b.txt': 'be' });
  const folder = await FolderVectors.open({ root, home, embedder });
  t.after(() => folder.dispose());
  const reported: EmbeddingProgress[] = [];
  await folder.embed(index.sources(), { onProgress: (progress) => reported.push(progress) });
  assert.equal(asked.length, 3);
  assert.deepEqual(
    reported.flatMap(({ waiting }) => (waiting === undefined ? [] : [waiting])),
    [0.01, 0.02],
  );
  assert.deepEqual(reported.at(-1), { done: 2, total: 2 });
  assert.deepEqual(folder.state, { type: 'ready' });
});

test('a service that stalls in the middle of its response is given up after the time limit', {
  timeout: 30_000,
}, async (t) => {
  const stall: Answer = (_input, response) =>
    void response.writeHead(200, { 'content-type': 'application/json' }).write('{"data":[');
  const { embedder, asked } = await service(t, stall);
  const says = /openai \(small\): http:.* did not send its whole response within 0\.2 s\. Check that the service runs/;
  const heads = ['http.client.response.finish', 'undici:request:headers'];
  const head = Promise.withResolvers<void>();
  for (const channel of heads) subscribe(channel, () => head.resolve());
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const stalled = embedder.embed(['a'], { timeoutSeconds: 0.2 });
  stalled.catch(() => {}); // awaited below
  await head.promise;
  // The client reads the body from then on.
  await nextTurn();
  t.mock.timers.tick(200);
  await assert.rejects(stalled, { code: 'unreachable', message: says });
  t.mock.timers.reset();
  assert.equal(asked.length, 1);
  const stop = new AbortController();
  const reason = new Error('enough');
  const waiting = embedder.embed(['a'], { signal: stop.signal });
  stop.abort(reason);
  await assert.rejects(waiting, reason);
});

test('waiting for a busy service ends at once with a stop', async (t) => {
  const { embedder } = await service(t, busy('30'));
  const { root, home, index } = await indexed(t, { 'a.txt': 'alpha' });
  const folder = await FolderVectors.open({ root, home, embedder });
  t.after(() => folder.dispose());
  const stop = new AbortController();
  const onProgress = ({ waiting }: EmbeddingProgress): void => {
    if (waiting !== undefined) stop.abort();
  };
  await assert.rejects(folder.embed(index.sources(), { signal: stop.signal, onProgress }), { name: 'AbortError' });
  assert.ok(folder.state.type === 'unfinished' && folder.state.reason === 'stopped');
});

test('a query does not wait for a busy service', async (t) => {
  const { embedder, asked } = await service(t, busy('30'));
  await assert.rejects(embedder.embed(['x'], { retries: 0 }), { code: 'limit' });
  assert.equal(asked.length, 1);
});

test('an answer without a vector for each text, a refused key and a stop are what they are', async (t) => {
  const short = await service(t, (_input, response) => json(response, 200, { data: [] }));
  await assert.rejects(short.embedder.embed(['x']), { code: 'corrupt', message: /one vector for each text/ });
  const closed = await service(t, (_input, response) =>
    json(response, 401, { error: { message: 'bad sk-secret-key' } }),
  );
  const refusal = await closed.embedder.embed(['x']).catch((error: unknown) => error);
  assert.ok(
    refusal instanceof Error && /Check the key/.test(refusal.message) && !refusal.message.includes('sk-secret'),
  );
  const silent = await service(t, () => {});
  const stop = new AbortController();
  setTimeout(() => stop.abort(), 20);
  await assert.rejects(silent.embedder.embed(['x'], { signal: stop.signal }), { name: 'AbortError' });
});

test('vectors are put to their texts by their index, and a response of another form is an error', async (t) => {
  const reversed: Answer = (input, response) => {
    const data = input.map((text, index) => ({ index, embedding: [text.length, 1] }));
    json(response, 200, { data: data.reverse() });
  };
  const { embedder } = await service(t, reversed);
  assert.deepEqual(
    (await embedder.embed(['a', 'bbb', 'cc'])).map(([first]) => first),
    [1, 3, 2],
  );
  const twice = { data: [0, 0].map((index) => ({ index, embedding: [1] })) };
  for (const body of ['null', '{}', '{"data":[null]}', JSON.stringify(twice), '5', '"x"']) {
    const other = await service(t, (_input, response) => void response.end(body));
    await assert.rejects(
      other.embedder.embed(['a', 'b']),
      { code: 'corrupt', message: /one vector for each text/ },
      body,
    );
  }
});

test('a provider has an embedding model of its own, and an address alone is enough', async (t) => {
  const models: unknown[] = [];
  const server = createServer(KEEPS_CONNECTIONS, (request, response) => {
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () => {
      const { input, model } = JSON.parse(Buffer.concat(parts).toString()) as { input: string[]; model: string };
      models.push(model);
      vectors(input, response, request);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
  await (await openEmbedder({ provider: 'ollama', baseUrl })).embed(['a']);
  const node = new RAGNode<{ query: string; rag_chunks?: readonly unknown[] }>({
    sources: [{ source: 'notes', text: 'The wharf is long.' }],
    vectorIndex: true,
    embeddingBaseUrl: baseUrl,
    embeddingModel: 'mine',
  });
  const shared: { query: string; rag_chunks?: readonly unknown[] } = { query: 'wharf' };
  await node.run(shared);
  assert.equal(shared.rag_chunks?.length, 1);
  assert.deepEqual(models, ['nomic-embed-text', 'mine', 'mine']);
  await assert.rejects(openEmbedder({ baseUrl }), /Set embeddingModel/);
});
