import assert from 'node:assert/strict';
import { existsSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { createLogger } from '../../src/core/log.ts';
import { DEFAULT_CONFIG } from '../../src/service/serviceConfig.ts';
import { jsonLines, Scratch } from './commandLine.ts';
import { startService } from './support/service.ts';

const KEY = 'the-key-that-no-log-may-show-0123456789';

interface Line {
  readonly message: string;
  readonly level: string;
  readonly requestId?: string;
  readonly method?: string;
  readonly route?: string;
  readonly status?: number;
  readonly account?: string;
  readonly ms?: number;
  readonly received?: number;
  readonly sent?: number;
  readonly client?: string;
}

function collectLines() {
  const lines: string[] = [];
  // Without a redactor that knows the key: what is not written needs no hiding.
  const log = createLogger((_level, line) => lines.push(line), undefined, { format: 'json' });
  const requests = (): Line[] =>
    lines.map((line) => JSON.parse(line) as Line).filter(({ message }) => message === 'request');
  const untilThere = async (id: string): Promise<Line> => {
    for (;;) {
      const found = requests().find(({ requestId }) => requestId === id);
      if (found !== undefined) return found;
      await sleep(5);
    }
  };
  return { lines, log, requests, untilThere };
}

test('each request is one line with its id, account, route, status, time and bytes', async (t) => {
  const { log, requests, untilThere } = collectLines();
  const service = await startService(t, { apiKey: KEY }, log);
  const id = await service.submit({ 'a.sh': 'echo made > made.txt' }, { script: 'a.sh' });
  await service.untilEnd(id);
  const headers = { 'x-request-id': 'from-a-proxy-0001' };
  const answer = await service.request(`/v1/jobs/${id}/artifacts`, { headers });
  assert.equal(answer.headers.get('x-request-id'), 'from-a-proxy-0001');
  const { byteLength } = await answer.arrayBuffer();
  const line = await untilThere('from-a-proxy-0001');
  assert.deepEqual(
    [line.level, line.method, line.route, line.status, line.account, line.client],
    ['info', 'GET', '/v1/jobs/:id/artifacts', 200, 'local', '127.0.0.1'],
  );
  assert.ok((line.sent ?? 0) > byteLength && (line.received ?? 0) > 50 && (line.ms ?? -1) >= 0, JSON.stringify(line));
  const submitted = requests().filter(({ method }) => method === 'POST');
  assert.deepEqual([submitted.length, submitted[0]?.status], [1, 201]);
  assert.ok((submitted[0]?.received ?? 0) > 200);
});

test('an id that is not well formed is replaced, also in the answers of failures', async (t) => {
  const { untilThere, log } = collectLines();
  const service = await startService(t, { apiKey: KEY }, log);
  for (const given of ['short', 'x'.repeat(65), 'has spaces in it', '-begins-badly', KEY + KEY]) {
    const answer = await service.request('/v1/jobs/none', { headers: { 'x-request-id': given } });
    const id = answer.headers.get('x-request-id') ?? '';
    assert.match(id, /^[\da-f]{8}-[\da-f-]{27}$/, given);
    assert.equal((await untilThere(id)).status, 404);
  }
});

test('the log of a session with keys, uploads and failures never shows a key, a path or a query', async (t) => {
  const { lines, log, requests } = collectLines();
  const service = await startService(t, { apiKey: KEY }, log);
  const wrong = 'a-wrong-key-that-is-still-somebodys-9876';
  const id = await service.submit({ 'a.sh': 'echo out' }, { script: 'a.sh' });
  await service.untilEnd(id);
  await service.events(id);
  const tries: [string, RequestInit][] = [
    ['/v1/me', { headers: { authorization: `Bearer ${wrong}` } }],
    [`/v1/jobs/${KEY}`, {}],
    [`/v1/jobs?before=${KEY}`, {}],
    [`/healthz?nonce=${KEY}!`, {}],
    [`/${KEY}?key=${KEY}`, {}],
    ['/v1/jobs', { method: 'POST', body: KEY, headers: { 'content-type': 'text/plain' } }],
    ['/v1/jobs', { method: 'POST', body: KEY, headers: { 'content-type': 'multipart/form-data; boundary=x' } }],
    [`/v1/jobs/${id}`, { method: 'DELETE' }],
    ['/v1/me', { headers: { cookie: KEY, 'x-request-id': `${KEY} x` } }],
  ];
  for (const [path, init] of tries) await (await service.request(path, init)).arrayBuffer();
  while (requests().length < tries.length + 3) await sleep(10);
  await service.stop();
  const all = lines.join('\n');
  assert.ok(all.includes('service ended'));
  for (const secret of [KEY, wrong, 'Bearer', 'nonce', id]) assert.ok(!all.includes(secret), secret);
});

test('behind a proxy that is known, the log shows whom it speaks for; else what is claimed is nothing', async (t) => {
  const forwarded = { 'x-forwarded-for': '203.0.113.9, 198.51.100.7', 'x-request-id': 'forwarded-1' };
  const plain = collectLines();
  const open = await startService(t, {}, plain.log);
  await open.request('/v1/me', { headers: forwarded });
  assert.equal((await plain.untilThere('forwarded-1')).client, '127.0.0.1');
  const behind = collectLines();
  const config = { ...DEFAULT_CONFIG, proxy: { addresses: ['127.0.0.1'] } };
  const proxied = await startService(t, { config }, behind.log);
  await proxied.request('/v1/me', { headers: forwarded });
  assert.equal((await behind.untilThere('forwarded-1')).client, '198.51.100.7');
});

test('a client that disconnects in the middle of a response is distinguished from one that got all of it', async (t) => {
  const { log, untilThere } = collectLines();
  const service = await startService(t, {}, log);
  const script = 'head -c 50000000 /dev/urandom > big.bin';
  const id = await service.submit({ 'a.sh': script }, { script: 'a.sh' });
  await service.untilEnd(id);
  const left = new AbortController();
  const headers = { 'x-request-id': 'left-early' };
  const answer = await service.request(`/v1/jobs/${id}/artifacts`, { headers, signal: left.signal });
  await answer.body?.getReader().read();
  left.abort();
  const line = await untilThere('left-early');
  assert.equal(line.status, 499);
  assert.ok((line.sent ?? 0) < 50_000_000);
});

test('farwharf serve --log writes lines of JSON, and after a rename and SIGHUP continues in a new file without losing one', async () => {
  await using scratch = await Scratch.create();
  const config = join(scratch.root, 'service.toml');
  writeFileSync(config, '[log]\nformat = "json"\n');
  const file = join(scratch.root, 'log', 'service.log');
  const service = await scratch.serveAsProcess(['--config', config, '--log', file]);
  let count = 0;
  const ask = async (): Promise<void> => {
    const headers = { authorization: `Bearer ${service.key}`, 'x-request-id': `request-${count++}` };
    await (await fetch(`${service.url}/v1/me`, { headers })).arrayBuffer();
  };
  for (let request = 0; request < 20; request += 1) await ask();
  renameSync(file, `${file}.1`);
  for (let request = 0; request < 20; request += 1) await ask();
  process.kill(service.pid, 'SIGHUP');
  while (!existsSync(file)) await ask();
  await ask();
  assert.equal(await service.stop(), 0);
  const idsIn = (path: string): string[] => {
    const text = readFileSync(path, 'utf8');
    assert.ok(!text.includes(service.key));
    const lines = jsonLines(text);
    assert.ok(lines.every(({ time, level, message }) => time && level && message));
    return lines.flatMap(({ requestId }) => (typeof requestId === 'string' ? requestId : []));
  };
  const [rotated, current] = [idsIn(`${file}.1`), idsIn(file)];
  const sent = Array.from({ length: count }, (_, index) => `request-${index}`);
  assert.deepEqual([...rotated, ...current].toSorted(), sent.toSorted());
  assert.ok(rotated.length > 20 && current.includes(`request-${count - 1}`));
  assert.match(readFileSync(file, 'utf8'), /"service ended"/);
  assert.deepEqual([statSync(file).mode & 0o777, statSync(join(scratch.root, 'log')).mode & 0o777], [0o600, 0o700]);
});

test('a configuration that still rotates the log is refused with what to use instead', async () => {
  await using scratch = await Scratch.create();
  const config = join(scratch.root, 'service.toml');
  for (const setting of ['max_mb = 50', 'keep = 5']) {
    writeFileSync(config, `[log]\n${setting}\n`);
    const { exit, stderr } = await scratch.run(['serve', '--port', '0', '--config', config]);
    assert.equal(exit, 2);
    assert.match(stderr, /log: max_mb and keep are no longer settings.*Remove them and let logrotate do it/);
  }
});

test('a log that cannot be written, or a configuration that is wrong, ends the start with what to change', async () => {
  await using scratch = await Scratch.create();
  writeFileSync(join(scratch.root, 'file'), '');
  const unwritable = await scratch.run(['serve', '--port', '0', '--log', join(scratch.root, 'file', 'service.log')]);
  assert.equal(unwritable.exit, 1);
  assert.match(unwritable.stderr, /service\.log cannot be written: .*Choose another one with --log/);
  const config = join(scratch.root, 'service.toml');
  const wrong =
    '[log]\nformat = "xml"\n[tls]\ncert = "here.pem"\nkey = "/k"\n[retention]\ndays = 3\nresults_days = 4\n';
  writeFileSync(config, wrong);
  const refused = await scratch.run(['serve', '--port', '0', '--config', config]);
  assert.equal(refused.exit, 2);
  for (const part of ['log.format', 'tls.cert: must be an absolute path', 'retention.results_days: must not be more']) {
    assert.ok(refused.stderr.includes(part), `${part} in ${refused.stderr}`);
  }
});
