import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test, type TestContext } from 'node:test';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { AppError } from '../../src/core/errors.ts';
import { findModelLibrary, installModelLibrary } from '../../src/retrieval/semantic/modelLibrary.ts';
import { RAGNode, type RetrievedChunk } from '../../src/agents/index.ts';
import { LocalEmbedder, type LocalEmbedderOptions } from '../../src/retrieval/semantic/localEmbedder.ts';
import lockFile from '../../src/retrieval/semantic/modelLibraryLock.json' with { type: 'json' };
import { makeArchive } from './support/archive.ts';
import { expectedVector, writeTinyModel } from './support/tinyModel.ts';

const program = join(import.meta.dirname, '../../src/retrieval/semantic/modelWorker.ts');
let base: string;
let home: string;
let unavailable: string | undefined;
let library: string;
const progress: number[] = [];

before(async () => {
  base = await mkdtemp(join(tmpdir(), 'farwharf-model-'));
  home = join(base, 'home');
  try {
    library = await installModelLibrary(home, { onProgress: (done) => progress.push(done) });
  } catch (error) {
    if (!(error instanceof AppError) || (error.code !== 'unreachable' && error.code !== 'missing')) throw error;
    unavailable = `NOT TESTED: ${error.message}`;
  }
});
after(() => rm(base, { recursive: true, force: true, maxRetries: 5 }));

async function open(
  t: TestContext,
  folder: string,
  options: Partial<LocalEmbedderOptions> = {},
): Promise<LocalEmbedder> {
  const embedder = await LocalEmbedder.open({
    program,
    library,
    model: 'test/tiny',
    folder,
    download: undefined,
    ...options,
  });
  t.after(() => embedder.dispose());
  return embedder;
}

async function bytesIn(folder: string): Promise<number> {
  const files = (await readdir(folder, { recursive: true, withFileTypes: true })).filter((entry) => entry.isFile());
  const sizes = files.map(async ({ parentPath, name }) => (await readFile(join(parentPath, name))).length);
  return (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
}

const TEXTS = ['ship', 'Bread boat', 'loaf oven', 'something else', 'ship ship bread'];

test('the library is installed on demand, once, without native modules, with progress', async (t) => {
  if (unavailable !== undefined) return t.skip(unavailable);
  assert.equal(findModelLibrary(home), library);
  assert.equal(await installModelLibrary(home, { env: { PATH: '' } }), library, 'nothing is run for what is there');
  assert.ok(progress.length > 0 && progress.every((bytes) => bytes <= 165_000_000));
  const names = await readdir(join(home, 'models'), { recursive: true });
  assert.deepEqual(
    names.filter((name) => name.endsWith('.node') || name.includes('.partial-')),
    [],
  );
  const bytes = await bytesIn(join(home, 'models'));
  assert.ok(bytes < 60_000_000, `${bytes} bytes`);
  t.diagnostic(`${(bytes / 1e6).toFixed(0)} MB installed`);
});

test('a package that was changed on its way from the registry is not installed', async (t) => {
  const forged = await makeArchive({ 'package/package.json': '{}', 'package/index.js': 'forged' });
  const versions = new Map(
    Object.entries(lockFile.packages).map(([path, locked]) => [path, 'version' in locked ? locked.version : '']),
  );
  const server = createServer((request, response) => {
    const name = decodeURIComponent(request.url ?? '').slice(1);
    if (name.endsWith('.tgz')) {
      response.end(forged);
      return;
    }
    const version = versions.get(`node_modules/${name}`) ?? '';
    const dist = { tarball: `http://${request.headers.host}/${name.replace('/', '-')}.tgz` };
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ name, 'dist-tags': {}, versions: { [version]: { name, version, dist } } }));
  }).listen(0, '127.0.0.1');
  t.after(() => server.close());
  await once(server, 'listening');
  const env = {
    ...process.env,
    npm_config_registry: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    npm_config_cache: join(base, 'cache'),
  };
  const other = join(base, 'forged');
  await assert.rejects(installModelLibrary(other, { env }), {
    code: 'corrupt',
    message: /^npm's registry gave another package/,
  });
  assert.equal(findModelLibrary(other), undefined);
  assert.deepEqual(await readdir(join(other, 'models')), []);
});

test('a model in a folder gives the mean of its words, in the order of the texts', async (t) => {
  if (unavailable !== undefined) return t.skip(unavailable);
  const folder = join(base, 'given');
  await writeTinyModel(join(folder, 'test/tiny'));
  const embedder = await open(t, folder);
  assert.match(embedder.id, /^local\/test\/tiny@[0-9a-f]{12}$/);
  const many = Array.from({ length: 30 }, (_, at) => TEXTS[at % TEXTS.length] ?? '');
  const vectors = await embedder.embed(many);
  for (const [at, text] of many.entries()) {
    for (const [index, value] of expectedVector(text).entries()) {
      assert.ok(Math.abs((vectors[at]?.[index] ?? 9) - value) < 1e-5, `${text}: ${vectors[at]?.join()}`);
    }
  }
});

test('this thread is not blocked while the model works, and embedding can be stopped', async (t) => {
  if (unavailable !== undefined) return t.skip(unavailable);
  const folder = join(base, 'given');
  const embedder = await open(t, folder);
  const long = Array.from({ length: 4000 }, () => 'ship bread '.repeat(100));
  let turns = 0;
  const stop = new AbortController();
  const timer = setInterval(() => {
    turns += 1;
    if (turns === 5) stop.abort();
  }, 5);
  t.after(() => clearInterval(timer));
  await assert.rejects(embedder.embed(long, { signal: stop.signal }), { name: 'AbortError' });
  assert.ok(turns >= 5);
  assert.equal((await embedder.embed(['ship'])).length, 1);
});

test('other weights by the same name are another model', async (t) => {
  if (unavailable !== undefined) return t.skip(unavailable);
  const folder = join(base, 'changing');
  await writeTinyModel(join(folder, 'test/tiny'));
  const before = await open(t, folder);
  await writeTinyModel(join(folder, 'test/tiny'), { factor: 2 });
  assert.notEqual((await open(t, folder)).id, before.id);
});

test('a model that is not there, or not whole, is a clear error', async (t) => {
  if (unavailable !== undefined) return t.skip(unavailable);
  const folder = join(base, 'broken');
  await assert.rejects(open(t, folder), {
    code: 'missing',
    message: /test\/tiny is not in .*broken: test\/tiny\/onnx\/model\.onnx does not exist\. Put the model there/,
  });
  await writeTinyModel(join(folder, 'test/tiny'));
  await rm(join(folder, 'test/tiny/tokenizer.json'));
  await assert.rejects(open(t, folder), { code: 'missing', message: /tokenizer\.json could not be read/ });
  await writeTinyModel(join(folder, 'test/tiny'));
  await rm(join(folder, 'test/tiny/config.json'));
  const embedder = await open(t, folder);
  await assert.rejects(embedder.embed(['ship']), {
    code: 'corrupt',
    message: /test\/tiny could not be loaded: .*config\.json/,
  });
});

test('a model that may be fetched is fetched once, in its smaller form', async (t) => {
  if (unavailable !== undefined) return t.skip(unavailable);
  const remote = join(base, 'remote');
  await writeTinyModel(join(remote, 'test/tiny'), { name: 'model_quantized.onnx' });
  const asked: string[] = [];
  const server = createServer((request, response) => {
    asked.push(request.url ?? '');
    const path = (request.url ?? '').replace('/resolve/main/', '/');
    readFile(join(remote, path)).then(
      (bytes) => response.writeHead(200, { 'content-length': bytes.length }).end(bytes),
      () => response.writeHead(404).end(),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => server.close());
  const download = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const folder = join(base, 'fetched');
  const progress: [number, number][] = [];
  const onProgress = (done: number, total: number) => void progress.push([done, total]);
  const fetched = await open(t, folder, { download, onProgress });
  assert.ok(asked.includes('/test/tiny/resolve/main/onnx/model_quantized.onnx'), asked.join('\n'));
  const [done, total] = progress.at(-1) ?? [];
  assert.ok(total !== undefined && total > 0 && done === total, `${done} of ${total}`);
  await rm(join(folder, 'test/tiny/tokenizer.json'));
  asked.length = 0;
  await open(t, folder, { download });
  assert.deepEqual([...new Set(asked)], ['/test/tiny/resolve/main/tokenizer.json'], 'what a stop left out is fetched');
  server.closeAllConnections();
  server.close();
  const again = await open(t, folder, { download });
  assert.equal(again.id, fetched.id);
  assert.equal((await again.embed(['ship'])).length, 1);
  await assert.rejects(open(t, join(base, 'empty'), { download }), { code: 'unreachable', message: /127\.0\.0\.1/ });
});

test('RAGNode finds by meaning with the local model, and keeps its vectors', async (t) => {
  if (unavailable !== undefined) return t.skip(unavailable);
  const docs = join(base, 'docs');
  await mkdir(docs);
  await writeFile(join(docs, 'sea.txt'), 'A boat.');
  await writeFile(join(docs, 'food.txt'), 'A loaf.');
  const models = join(base, 'given');
  process.env['FARWHARF_HOME'] = home;
  t.after(() => delete process.env['FARWHARF_HOME']);
  const options = {
    vectorIndex: true,
    embeddingModel: 'test/tiny',
    localModelPath: models,
    persistPath: join(base, 'kept'),
  };
  const shared: { query: string; rag_chunks?: RetrievedChunk[] } = { query: 'ship' };
  await new RAGNode({ sources: docs, ...options }).run(shared);
  assert.deepEqual(
    shared.rag_chunks?.map(({ source }) => source),
    [join(docs, 'sea.txt'), join(docs, 'food.txt')],
  );
  assert.equal((await readdir(join(base, 'kept'))).length, 1);
  const missing = new RAGNode({ sources: docs, ...options, embeddingModel: 'test/absent' });
  await assert.rejects(missing.ready, { code: 'missing', message: /test\/absent is not in/ });

  const built = join(import.meta.dirname, '../../dist/agents.mjs');
  const program = `
    const { RAGNode } = await import(${JSON.stringify(pathToFileURL(built).href)});
    const shared = { query: 'oven' };
    await new RAGNode(${JSON.stringify({ sources: docs, topK: 1, ...options })}).run(shared);
    console.log(shared.rag_chunks[0].text);`;
  const run = promisify(execFile)(process.execPath, ['--input-type=module', '--eval', program], {
    timeout: 10 * 60_000,
  });
  assert.equal((await run).stdout, 'A loaf.\n', 'built, in a process that then ends by itself');
});

test('without npm or without the network the install says so, and leaves nothing behind', async () => {
  const empty = join(base, 'empty-home');
  await assert.rejects(installModelLibrary(empty, { env: { PATH: '' } }), {
    code: 'missing',
    message: /npm was not found/,
  });
  const offline = {
    ...process.env,
    npm_config_registry: 'http://127.0.0.1:9/',
    npm_config_fetch_retry_mintimeout: '10',
  };
  const fresh = { ...offline, npm_config_cache: join(base, 'npm-cache') };
  await assert.rejects(installModelLibrary(empty, { env: fresh }), {
    code: 'unreachable',
    message: /Check the network/,
  });
  const stop = new AbortController();
  const stopped = installModelLibrary(empty, { signal: stop.signal });
  setTimeout(() => stop.abort(), 100);
  await assert.rejects(stopped, { name: 'AbortError' });
  assert.deepEqual(await readdir(join(empty, 'models')), []);
  assert.equal(findModelLibrary(empty), undefined);
});
