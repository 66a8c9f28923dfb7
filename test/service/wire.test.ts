import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { request as rawRequest } from 'node:http';
import { connect } from 'node:net';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { DEFAULT_CONFIG } from '../../src/service/serviceConfig.ts';
import { until } from './commandLine.ts';
import { makeArchive } from './support/archive.ts';
import { type HealthBody, type ServiceClient, startService } from './support/service.ts';

const HELLO = { 'run.sh': 'echo hello' };

async function detailOf(response: Response): Promise<string> {
  return ((await response.json()) as { detail: string }).detail;
}

function leftBehind(service: ServiceClient): readonly string[] {
  return readdirSync(join(service.data, 'jobs'));
}

/** A request with headers that `fetch` does not let one set. */
function statusWith(
  service: ServiceClient,
  path: string,
  headers: Record<string, string>,
): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const sent = rawRequest(service.url + path, { headers, agent: false }, (response) => {
      response.resume();
      resolve(response.statusCode);
    });
    sent.once('error', reject).end();
  });
}

test('every /v1 route needs the key, and distinguishes a wrong key from a missing one', async (t) => {
  const service = await startService(t);
  for (const path of ['/v1/me', '/v1/jobs', '/v1/jobs/x', '/v1/jobs/x/events', '/v1/jobs/x/artifacts', '/v1/nothing']) {
    const without = await fetch(service.url + path);
    assert.equal(without.status, 401, path);
    assert.equal(without.headers.get('www-authenticate'), 'Bearer', path);
    const wrong = await fetch(service.url + path, { headers: { authorization: `Bearer ${service.key}x` } });
    assert.equal(wrong.status, 401, path);
    assert.equal(await detailOf(wrong), 'Invalid or revoked API key.');
  }
  const posted = await fetch(`${service.url}/v1/jobs`, { method: 'POST', body: 'x'.repeat(1_000_000) });
  assert.equal(posted.status, 401);
});

test('a foreign Host and any Origin are refused before the key is looked at', async (t) => {
  const service = await startService(t);
  const authorization = `Bearer ${service.key}`;
  const port = new URL(service.url).port;
  assert.equal(await statusWith(service, '/v1/me', { authorization, host: `localhost:${port}` }), 200);
  for (const host of ['evil.example', `evil.example:${port}`, '127.0.0.1', `127.0.0.1:${Number(port) + 1}`]) {
    assert.equal(await statusWith(service, '/v1/me', { authorization, host }), 400, host);
    assert.equal(await statusWith(service, '/healthz', { host }), 400, host);
  }
  for (const origin of [service.url, 'https://evil.example', 'null']) {
    assert.equal(await statusWith(service, '/v1/me', { authorization, origin }), 400, origin);
  }
});

test('a service that other machines may reach takes any Host', async (t) => {
  const service = await startService(t, { host: '0.0.0.0' });
  const headers = { authorization: `Bearer ${service.key}`, host: 'jobs.example.org' };
  assert.equal(await statusWith(service, '/v1/me', headers), 200);
});

test('/healthz proves that the service knows the key, without the key', async (t) => {
  const service = await startService(t);
  const nonce = 'a-nonce-of-some-length';
  const answer = (await (await fetch(`${service.url}/healthz?nonce=${nonce}`)).json()) as { proof: string };
  assert.equal(answer.proof, createHmac('sha256', service.key).update(nonce).digest('hex'));
  assert.equal((await fetch(`${service.url}/healthz?nonce=short`)).status, 400);
  const plain = (await (await fetch(`${service.url}/healthz`)).json()) as HealthBody;
  assert.deepEqual(Object.keys(plain), ['status', 'version', 'parts']);
});

test('/healthz gives nobody from elsewhere a proof to try keys against', async (t) => {
  const service = await startService(t);
  const path = `${service.url}/healthz?nonce=a-nonce-of-some-length`;
  const answer = await fetch(path, { headers: { 'x-forwarded-for': '192.0.2.7' } });
  assert.deepEqual(Object.keys((await answer.json()) as object), ['status', 'version', 'parts']);
});

test('/v1/me returns credits, prices and limits, and /openapi.json describes every route', async (t) => {
  const service = await startService(t, { credits: 12.5 });
  interface Me {
    readonly credits: number;
    readonly rate_card: Record<string, unknown>[];
    readonly limits: Record<string, unknown>;
  }
  const me = await service.json<Me>('/v1/me');
  assert.equal(me.credits, 12.5);
  assert.equal(me.rate_card[0]?.['machine_class'], 'local');
  assert.equal(me.rate_card[0]?.['credits_per_minute'], 0.1);
  assert.deepEqual(me.limits, { max_runtime: 30 * 24 * 3600, max_upload_bytes: 20e9, max_hold: 3600 });
  const { paths } = (await (await fetch(`${service.url}/openapi.json`)).json()) as { paths: Record<string, object> };
  const described = Object.entries(paths).flatMap(([path, item]) =>
    Object.keys(item).map((method) => `${method.toUpperCase()} ${path.replaceAll(/\{\w+\}/g, '{}')}`),
  );
  // The page is for people.
  const isOfPage = (path: string): boolean => /^\/(jobs|operator|sign-)|^\/$/.test(path);
  const routes = service.routes.filter(({ path }) => !isOfPage(path));
  // A route of several handlers is there once for each.
  const answered = new Set(routes.map(({ method, path }) => `${method} ${path.replaceAll(/:\w+/g, '{}')}`));
  assert.deepEqual(described.toSorted(), [...answered].toSorted());
});

test('an idle connection is kept for longer than reverse proxies keep theirs', async (t) => {
  const service = await startService(t);
  const response = await service.request('/v1/me');
  await response.text();
  const seconds = Number(/^timeout=(\d+)$/.exec(response.headers.get('keep-alive') ?? '')?.[1]);
  assert.ok(seconds > 60, `nginx keeps one for 60 s, the service for ${seconds} s`);
});

test('unknown jobs and addresses are 404, whatever their id looks like', async (t) => {
  const service = await startService(t);
  for (const id of ['nothing', '..%2f..%2fetc', 'x'.repeat(65), '%00']) {
    for (const rest of ['', '/events', '/artifacts']) {
      assert.equal((await service.request(`/v1/jobs/${id}${rest}`)).status, 404, id + rest);
    }
    assert.equal((await service.request(`/v1/jobs/${id}`, { method: 'DELETE' })).status, 404);
  }
  assert.equal((await service.request('/v2/me')).status, 404);
});

const BAD_META: readonly [meta: string, names: string][] = [
  ['{', 'meta'],
  ['[]', 'meta: must be an object'],
  ['{"max_runtime":5}', 'meta.script'],
  ['{"script":"run.sh"}', 'meta.max_runtime'],
  ['{"script":"run.sh","max_runtime":0}', 'meta.max_runtime'],
  ['{"script":"run.sh","max_runtime":1.5}', 'meta.max_runtime: must be a whole number'],
  ['{"script":"run.sh","max_runtime":"5"}', 'meta.max_runtime'],
  ['{"script":"run.sh","max_runtime":5,"machine_class":"gpu"}', 'meta.machine_class'],
  ['{"script":"run.sh","max_runtime":5,"venv":{"pip":[]}}', 'pip'],
  ['{"script":"run.sh","max_runtime":5,"venv":{"python":"rm -rf"}}', 'meta.venv.python'],
  ['{"script":"run.sh","max_runtime":5,"venv":{"env":{"A B":"1"}}}', 'meta.venv.env'],
  ['{"script":"run.sh","max_runtime":5,"venv":{"env":{"FARWHARF_JOB_ID":"1"}}}', 'meta.venv.env'],
  ['{"script":"missing.py","max_runtime":5}', '"missing.py" is not in the archive'],
  ['{"script":"../run.sh","max_runtime":5}', 'meta.script'],
  ['{"script":"/bin/sh","max_runtime":5}', 'meta.script'],
  ['{"script":"\\"run.sh","max_runtime":5}', 'meta.script'],
  ['{"script":"notes.txt","max_runtime":5}', 'chmod +x'],
];

test('metadata that is wrong is 400, names the field, and leaves nothing', async (t) => {
  const service = await startService(t);
  const archive = await makeArchive({ ...HELLO, 'notes.txt': 'no script' });
  for (const [meta, names] of BAD_META) {
    const response = await service.upload(archive, meta);
    const detail = await detailOf(response);
    assert.equal(response.status, 400, meta);
    assert.ok(detail.includes(names), `${meta}: ${detail}`);
  }
  assert.deepEqual(leftBehind(service), []);
  assert.equal(await service.credits(), 1000);
});

test('a body that is no form, or a form without its parts, is refused', async (t) => {
  const service = await startService(t);
  const post = (body: string | FormData, headers: Record<string, string> = {}) =>
    service.request('/v1/jobs', { method: 'POST', body, headers });
  assert.equal((await post('{}', { 'content-type': 'application/json' })).status, 415);
  assert.equal((await post('x')).status, 415);
  assert.equal((await post('x', { 'content-type': 'multipart/form-data' })).status, 400);
  assert.equal((await post('x', { 'content-type': 'multipart/form-data; boundary=b' })).status, 400);
  const longBoundary = await post('x', { 'content-type': `multipart/form-data; boundary=${'b'.repeat(300)}` });
  assert.match(await detailOf(longBoundary), /^The form cannot be read: .*[^.]\.$/);
  const noArchive = new FormData();
  noArchive.append('meta', '{"script":"run.sh","max_runtime":5}');
  assert.match(await detailOf(await post(noArchive)), /"tarball" is missing/);
  const noMeta = new FormData();
  noMeta.append('tarball', new Blob([await makeArchive(HELLO)]), 'workspace.tar.gz');
  assert.match(await detailOf(await post(noMeta)), /"meta" is missing/);
  const twice = new FormData();
  twice.append('tarball', new Blob(['a']), 'a.tar.gz');
  twice.append('tarball', new Blob(['b']), 'b.tar.gz');
  assert.equal((await post(twice)).status, 400);
  assert.deepEqual(leftBehind(service), []);
});

test('a form that is cut in any part is refused, and the service still works', async (t) => {
  const service = await startService(t);
  const headers = { 'content-type': 'multipart/form-data; boundary=b' };
  const begun = [
    'name="other"; filename="a"',
    'name="tarball"; filename="a"',
    'name="meta"',
    `name="tarball"; filename="a"\r\n\r\nwhole\r\n--b\r\nContent-Disposition: form-data; name="other"; filename="b"`,
  ];
  for (const part of begun) {
    for (const own of [headers, { ...headers, 'idempotency-key': 'k' }]) {
      const body = `--b\r\nContent-Disposition: form-data; ${part}\r\n\r\nnot all of`;
      const response = await service.request('/v1/jobs', { method: 'POST', body, headers: own });
      assert.equal(response.status, 400, part);
      assert.match(await detailOf(response), /cannot be read: Unexpected end/);
    }
  }
  assert.deepEqual(leftBehind(service), []);
});

test('the parts may come in either order', async (t) => {
  const service = await startService(t);
  const form = new FormData();
  form.append('meta', '{"script":"run.sh","max_runtime":5}');
  form.append('tarball', new Blob([await makeArchive(HELLO)]), 'workspace.tar.gz');
  const response = await service.request('/v1/jobs', { method: 'POST', body: form });
  assert.equal(response.status, 201);
  const { job_id: id } = (await response.json()) as { job_id: string };
  assert.equal((await service.untilEnd(id)).state, 'succeeded');
});

test('an archive that is too large is 413, with a declared length and without', async (t) => {
  const limits = { ...DEFAULT_CONFIG.limits, upload_gb: 0.0001 };
  const service = await startService(t, { config: { ...DEFAULT_CONFIG, limits } });
  const large = new Uint8Array(3_000_000);
  const response = await service.upload(large, '{"script":"run.sh","max_runtime":5}');
  assert.equal(response.status, 413);
  assert.match(await detailOf(response), /larger than 100 KB/);
  const slightly = await service.upload(large.subarray(0, 200_000), '{"script":"run.sh","max_runtime":5}');
  assert.equal(slightly.status, 413);
  assert.deepEqual(leftBehind(service), []);
});

test('hostile archives get status 400 and leave no files', async (t) => {
  const service = await startService(t);
  const meta = '{"script":"run.sh","max_runtime":5}';
  const archives = {
    parent: await makeArchive({ ...HELLO, '../outside.txt': 'x' }),
    absolute: await makeArchive({ ...HELLO, '/tmp/farwharf-outside.txt': 'x' }),
    noise: new Uint8Array(Buffer.from('not a gzip file at all')),
    cut: (await makeArchive(HELLO)).subarray(0, 60),
    empty: new Uint8Array(0),
  };
  for (const [name, archive] of Object.entries(archives)) {
    const response = await service.upload(archive, meta);
    assert.equal(response.status, 400, name);
    assert.ok((await detailOf(response)).length > 10);
  }
  assert.deepEqual(leftBehind(service), []);
  assert.equal(await service.credits(), 1000);
});

test('a link in an upload is not made, and the log says so', async (t) => {
  const service = await startService(t);
  const files = { 'run.sh': 'ls -1', passwd: { type: 'symlink' as const, linkname: '/etc/passwd' } };
  const id = await service.submit(files, { script: 'run.sh' });
  await service.untilEnd(id);
  assert.equal(await service.output(id), 'artifacts\nrun.sh\n');
  assert.match(await service.output(id, 'stderr'), /passwd was left out/);
});

test('an upload that is cut off leaves no job, no hold and no file', async (t) => {
  const service = await startService(t);
  const { port, hostname } = new URL(service.url);
  const socket = connect(Number(port), hostname);
  socket.write(
    `POST /v1/jobs HTTP/1.1\r\nHost: ${hostname}:${port}\r\nAuthorization: Bearer ${service.key}\r\n` +
      'Content-Type: multipart/form-data; boundary=b\r\nContent-Length: 1000000\r\n\r\n' +
      `--b\r\nContent-Disposition: form-data; name="tarball"; filename="w.tar.gz"\r\n\r\n${'x'.repeat(500_000)}`,
  );
  // So much is written to a file.
  while (leftBehind(service).length === 0) await sleep(5);
  socket.destroy();
  while (leftBehind(service).length > 0) await sleep(5);
  assert.equal(await service.credits(), 1000);
  assert.deepEqual(await service.json('/v1/jobs'), { jobs: [] });
});

test('uploads whose connection ends right after their last byte leave nothing, and no place taken', async (t) => {
  const service = await startService(t);
  const { port, hostname, host } = new URL(service.url);
  // More than the service takes at once, each followed by what is no request.
  for (let count = 0; count < 20; count += 1) {
    const socket = connect(Number(port), hostname);
    socket.write(
      `POST /v1/jobs HTTP/1.1\r\nHost: ${host}\r\nAuthorization: Bearer ${service.key}\r\n` +
        'Content-Type: multipart/form-data; boundary=b\r\nContent-Length: 10\r\n\r\n0123456789garbage',
    );
    await once(socket.resume(), 'close');
  }
  const id = await service.submit(HELLO, { script: 'run.sh' });
  await service.untilEnd(id);
  await until(() => leftBehind(service).length <= 1);
  assert.deepEqual(leftBehind(service), [id]);
});

test('a job that costs more than there is left is 402 and leaves nothing', async (t) => {
  const service = await startService(t, { credits: 0.25 });
  const id = await service.submit({ 'run.sh': 'sleep 60' }, { script: 'run.sh', max_runtime: 60 });
  const response = await service.send(HELLO, { script: 'run.sh', max_runtime: 120 });
  assert.equal(response.status, 402);
  assert.match(await detailOf(response), /needs 0.2 credits.*0.15 are left/);
  assert.deepEqual(leftBehind(service), [id]);
  await service.request(`/v1/jobs/${id}`, { method: 'DELETE' });
});

test('a HEAD of events is over at once, and its connection is free again while the job runs', async (t) => {
  const service = await startService(t);
  const id = await service.submit({ 'run.sh': 'sleep 600' }, { script: 'run.sh' });
  await service.untilRunning(id);
  const { hostname, port, host } = new URL(service.url);
  const socket = connect(Number(port), hostname);
  t.after(() => socket.destroy());
  let answers = '';
  socket.on('data', (bytes: Buffer) => (answers += bytes.toString()));
  for (const start of [`HEAD /v1/jobs/${id}/events`, 'GET /v1/nothing']) {
    socket.write(`${start} HTTP/1.1\r\nHost: ${host}\r\nAuthorization: Bearer ${service.key}\r\n\r\n`);
  }
  while (!answers.includes('Nothing exists at this address.')) await sleep(10);
  assert.match(answers, /^HTTP\/1\.1 200 OK\r\n[^]*?content-type: text\/event-stream[^]*?\r\n\r\nHTTP\/1\.1 404 /);
  assert.equal((await service.job(id)).state, 'running');
  await service.request(`/v1/jobs/${id}`, { method: 'DELETE' });
});

test('a HEAD of results does not read them', async (t) => {
  if (process.platform !== 'linux') return t.skip('only Linux shows how much a process has read');
  const service = await startService(t);
  const id = await service.submit({ 'run.sh': 'head -c 30000000 /dev/urandom > made' }, { script: 'run.sh' });
  await service.untilEnd(id);
  const bytesRead = (): number => Number(/^rchar: (\d+)$/m.exec(readFileSync('/proc/self/io', 'utf8'))?.[1]);
  const before = bytesRead();
  const response = await service.request(`/v1/jobs/${id}/artifacts`, { method: 'HEAD' });
  assert.ok(Number(response.headers.get('content-length')) > 30_000_000);
  assert.equal((await response.arrayBuffer()).byteLength, 0);
  assert.ok(bytesRead() - before < 10_000_000);
});

test('results are 409 until the job has ended', async (t) => {
  const service = await startService(t);
  const id = await service.submit({ 'run.sh': 'sleep 600' }, { script: 'run.sh' });
  await service.untilRunning(id);
  const response = await service.request(`/v1/jobs/${id}/artifacts`);
  assert.equal(response.status, 409);
  assert.match(await detailOf(response), /running/);
  await service.request(`/v1/jobs/${id}`, { method: 'DELETE' });
});

test('jobs are listed newest first, page by page', async (t) => {
  const service = await startService(t);
  const ids: string[] = [];
  for (let index = 0; index < 5; index += 1) ids.unshift(await service.submit(HELLO, { script: 'run.sh' }));
  const list = async (query: string): Promise<readonly string[]> =>
    (await service.json<{ jobs: { job_id: string }[] }>(`/v1/jobs${query}`)).jobs.map(({ job_id: id }) => id);
  assert.deepEqual(await list(''), ids);
  assert.deepEqual(await list('?limit=2'), ids.slice(0, 2));
  assert.deepEqual(await list(`?limit=2&before=${ids[1]}`), ids.slice(2, 4));
  for (const query of ['?limit=0', '?limit=x', '?limit=1e9']) {
    assert.equal((await service.request(`/v1/jobs${query}`)).status, 400, query);
  }
  for (const id of ids) await service.untilEnd(id);
});
