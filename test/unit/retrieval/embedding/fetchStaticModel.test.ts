import assert from 'node:assert/strict';
import { mkdir, mkdtemp, readdir, rm, truncate, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { fetchStaticModel } from '../../../../src/retrieval/embedding/static/fetchStaticModel.ts';
import { StaticModel } from '../../../../src/retrieval/embedding/static/staticModel.ts';
import { openModelHub } from '../../../modelHub.ts';
import { writeStaticModel } from '../../../staticModel.ts';

const onProgress = (): void => {};

async function scratch(t: TestContext): Promise<string> {
  const base = await mkdtemp(join(tmpdir(), 'farwharf-hub-'));
  t.after(() => rm(base, { recursive: true, force: true, maxRetries: 5 }));
  return base;
}

test('a static model is downloaded whole, with progress, and works', async (t) => {
  const base = await scratch(t);
  await writeStaticModel(join(base, 'hub/test/tiny'));
  using hub = await openModelHub(join(base, 'hub'));
  const progress: number[] = [];
  const folder = join(base, 'models/test/tiny');
  const isStatic = await fetchStaticModel('test/tiny', folder, {
    hub: hub.address,
    onProgress: (done, total) => progress.push(done / total),
  });
  assert.equal(isStatic, true);
  assert.deepEqual((await readdir(folder)).sort(), ['config.json', 'model.safetensors', 'tokenizer.json']);
  assert.deepEqual(await readdir(join(base, 'models/test')), ['tiny'], 'nothing else is left');
  assert.equal(progress.at(-1), 1);
  assert.equal(hub.requested.length, 3);
  const model = await StaticModel.open({ model: 'tiny', folder: join(base, 'models/test') });
  assert.deepEqual(Array.from((await model.embed(['ship'], {}))[0] ?? []), [1, 0, 0, 0]);
});

test('of a model that is not static only the configuration is read', async (t) => {
  const base = await scratch(t);
  await mkdir(join(base, 'hub/test/bert'), { recursive: true });
  await writeFile(join(base, 'hub/test/bert/config.json'), '{"model_type": "bert"}');
  using hub = await openModelHub(join(base, 'hub'));
  assert.equal(
    await fetchStaticModel('test/bert', join(base, 'models/test/bert'), { hub: hub.address, onProgress }),
    false,
  );
  assert.deepEqual(hub.requested, ['/test/bert/resolve/main/config.json']);
  assert.deepEqual(await readdir(join(base, 'models/test')), []);
});

test('what fails leaves nothing behind and says why', async (t) => {
  const base = await scratch(t);
  await writeStaticModel(join(base, 'hub/test/half'));
  await rm(join(base, 'hub/test/half/model.safetensors'));
  await writeStaticModel(join(base, 'hub/test/huge'));
  await truncate(join(base, 'hub/test/huge/tokenizer.json'), 33_000_000);
  using opened = await openModelHub(join(base, 'hub'));
  const models = join(base, 'models/test');
  const fetch = (model: string, hub = opened.address): Promise<boolean> =>
    fetchStaticModel(model, join(base, 'models', model), { hub, onProgress });
  await assert.rejects(fetch('test/absent'), { code: 'unreachable', message: /404 for config\.json/ });
  await assert.rejects(fetch('test/half'), { code: 'unreachable', message: /404 for model\.safetensors/ });
  await assert.rejects(fetch('test/huge'), {
    code: 'limit',
    message: /tokenizer\.json of test\/huge is larger than 32 MB/,
  });
  await assert.rejects(fetch('test/half', 'http://127.0.0.1:1'), { code: 'unreachable', message: /127\.0\.0\.1/ });
  assert.deepEqual(await readdir(models), []);
  for (const name of ['../../escape', 'test/..', 'test', '/etc/passwd', 'a/b/c', 'test/tiny?x'])
    await assert.rejects(fetch(name), { code: 'bad-input' }, name);
});

test('a connection that is lost in the middle, or a user who cancels, leaves nothing behind', async (t) => {
  const base = await scratch(t);
  const cancelling = new AbortController();
  const server = createServer(({ url = '' }, response) => {
    if (url.endsWith('config.json')) {
      response.end('{"model_type": "model2vec"}');
      return;
    }
    response.writeHead(200, { 'content-length': '1000' }).write('{');
    if (url.startsWith('/test/lost')) setImmediate(() => response.destroy());
    else cancelling.abort();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  const hub = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const folder = (model: string): string => join(base, 'models', model);
  await assert.rejects(fetchStaticModel('test/lost', folder('test/lost'), { hub, onProgress }), {
    code: 'unreachable',
  });
  const { signal } = cancelling;
  await assert.rejects(fetchStaticModel('test/slow', folder('test/slow'), { hub, onProgress, signal }), {
    name: 'AbortError',
  });
  assert.deepEqual(await readdir(join(base, 'models/test')), []);
});

test('a hub that stops sending is given up on, and can be tried again', async (t) => {
  const base = await scratch(t);
  await writeStaticModel(join(base, 'hub/test/tiny'));
  using hub = await openModelHub(join(base, 'hub'));
  const silentServer = createServer((_, response) => response.writeHead(200, { 'content-length': 100 }).write('{'));
  await new Promise<void>((resolve) => silentServer.listen(0, '127.0.0.1', resolve));
  t.after(() => {
    silentServer.closeAllConnections();
    silentServer.close();
  });
  const silent = `http://127.0.0.1:${(silentServer.address() as AddressInfo).port}`;
  const folder = join(base, 'models/test/tiny');
  await assert.rejects(fetchStaticModel('test/tiny', folder, { hub: silent, idleMs: 100, onProgress }), {
    code: 'unreachable',
    message: /sent nothing for 0\.1 s while config\.json of test\/tiny was downloaded\. Try again later\.$/,
  });
  assert.deepEqual(await readdir(join(base, 'models/test')), []);
  assert.equal(await fetchStaticModel('test/tiny', folder, { hub: hub.address, onProgress }), true);
});
