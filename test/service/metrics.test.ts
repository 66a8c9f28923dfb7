import assert from 'node:assert/strict';
import { get } from 'node:http';
import { networkInterfaces } from 'node:os';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { DEFAULT_CONFIG } from '../../src/service/serviceConfig.ts';
import { type ServiceClient, startService } from './support/service.ts';

type Samples = ReadonlyMap<string, number>;

/** Reads the text format strictly: each sample has a name that was described, labels and a number. */
function parseMetrics(body: string): Samples {
  const described = new Set<string>();
  const samples = new Map<string, number>();
  for (const line of body.split('\n').filter((text) => text !== '')) {
    const type = /^# TYPE (\w+) (counter|gauge|histogram|summary)$/.exec(line);
    if (type?.[1] !== undefined) described.add(type[1]);
    if (line.startsWith('#')) continue;
    const match = /^(\w+)(\{(?:\w+="[^"\n]*",?)+\})? (-?[\d.e+-]+|Nan|NaN|[+-]Inf)$/.exec(line);
    assert.ok(match, `no sample: ${line}`);
    const [, name = '', labels = '', value] = match;
    assert.ok(described.has(name.replace(/_(bucket|sum|count)$/, '')) || described.has(name), `${name} has no type`);
    assert.ok(!samples.has(name + labels), `${name}${labels} is there twice`);
    samples.set(name + labels, Number(value));
  }
  return samples;
}

async function metricsOf(service: ServiceClient): Promise<Samples> {
  const response = await fetch(`${service.url}/metrics`);
  assert.equal(response.status, 200);
  assert.match(response.headers.get('content-type') ?? '', /^text\/plain; version=0\.0\.4/);
  return parseMetrics(await response.text());
}

test('real work moves the counters, and no label holds a job, a key or a path', async (t) => {
  const service = await startService(t);
  const before = await metricsOf(service);
  const value = (samples: Samples, name: string): number => samples.get(name) ?? 0;
  const good = await service.submit({ 'a.sh': 'echo hello; sleep 0.3' }, { script: 'a.sh' });
  await service.untilEnd(good);
  const bad = await service.submit({ 'a.sh': 'exit 3' }, { script: 'a.sh' });
  await service.untilEnd(bad);
  const long = await service.submit({ 'a.sh': 'sleep 600' }, { script: 'a.sh' });
  await service.untilRunning(long);
  assert.equal((await service.send({ 'a.sh': 'true' }, { script: 'missing.sh' })).status, 400);
  assert.equal((await service.request('/v1/jobs/nosuchjob')).status, 404);
  assert.equal((await service.request('/somewhere/else?key=secret')).status, 404);
  const left = new AbortController();
  const stream = await service.request(`/v1/jobs/${long}/events`, { signal: left.signal });
  const events = (await service.events(good)).length + (await service.events(bad)).length;

  // The service counts a stream as over a moment after its reader has all of it.
  let during = await metricsOf(service);
  while (value(during, 'farwharf_event_streams_open') !== 1) during = await metricsOf(service);
  const moved = (name: string): number => value(during, name) - value(before, name);
  const [name = ''] = /machine_class="[^"]+"/.exec([...during.keys()].join(' ')) ?? [];
  assert.equal(moved(`farwharf_jobs_submitted_total{${name}}`), 3);
  assert.equal(moved(`farwharf_jobs_ended_total{${name},state="succeeded"}`), 1);
  assert.equal(moved(`farwharf_jobs_ended_total{${name},state="failed"}`), 1);
  assert.equal(moved(`farwharf_job_wait_seconds_count{${name}}`), 3);
  assert.equal(value(during, `farwharf_jobs{state="running",${name}}`), 1);
  assert.ok(moved('farwharf_events_appended_total') >= events + 3);
  assert.ok(moved('farwharf_uploaded_bytes_total') > 4 * 200);
  assert.equal(moved('farwharf_http_requests_total{method="POST",route="/v1/jobs",status="201"}'), 3);
  assert.equal(moved('farwharf_http_requests_total{method="POST",route="/v1/jobs",status="400"}'), 1);
  assert.equal(moved('farwharf_http_requests_total{method="GET",route="/v1/jobs/:id",status="404"}'), 1);
  assert.equal(moved('farwharf_http_requests_total{method="GET",route="unknown",status="404"}'), 1);
  assert.equal(moved('farwharf_http_request_seconds_count{route="/v1/jobs"}'), 4);
  assert.equal(value(during, 'farwharf_healthy'), 1);
  for (const gauge of ['farwharf_disk_free_bytes', 'process_resident_memory_bytes', 'process_open_fds']) {
    assert.ok(value(during, gauge) > 0, gauge);
  }
  assert.ok(during.has('nodejs_eventloop_lag_p99_seconds'));
  for (const secret of [service.key, good, bad, long, 'nosuchjob', 'somewhere']) {
    assert.ok(![...during.keys()].some((key) => key.includes(secret)), secret);
  }

  left.abort();
  await stream.body?.cancel().catch(() => {});
  await service.request(`/v1/jobs/${long}`, { method: 'DELETE' });
  for (;;) {
    const after = await metricsOf(service);
    const isQuiet = value(after, 'farwharf_event_streams_open') === 0;
    if (isQuiet && value(after, `farwharf_jobs_ended_total{${name},state="cancelled"}`) === 1) break;
    await sleep(20);
  }
  const charged = (await Promise.all([good, bad, long].map((id) => service.job(id)))).map(
    (job) => job.credits_charged ?? 0,
  );
  const spent = value(await metricsOf(service), `farwharf_credits_spent_total{${name}}`);
  assert.ok(Math.abs(spent - charged.reduce((sum, credits) => sum + credits, 0)) < 1e-6);
});

test('an executor that fails is counted', async (t) => {
  const service = await startService(t, { runner: '/nowhere/jobRunner.mjs' });
  const id = await service.submit({ 'a.sh': 'true' }, { script: 'a.sh' });
  assert.equal((await service.untilEnd(id)).state, 'failed');
  assert.equal((await metricsOf(service)).get('farwharf_executor_errors_total{call="launch",code="missing"}'), 1);
});

test('with a token, this machine needs it as others do, and so do requests through a proxy', async (t) => {
  const token = 'a-token-for-the-scraper';
  const config = { ...DEFAULT_CONFIG, metrics: { enabled: true, token } };
  const service = await startService(t, { host: '0.0.0.0', config });
  const { port } = new URL(service.url);
  const address = Object.values(networkInterfaces())
    .flat()
    .find((entry) => entry?.family === 'IPv4' && !entry.internal)?.address;
  const status = async (host: string, headers: Record<string, string>): Promise<number | undefined> => {
    const response = await new Promise<Parameters<typeof text>[0] & { statusCode?: number }>((resolve, reject) => {
      get({ host, port, path: '/metrics', headers }, resolve).once('error', reject);
    });
    await text(response);
    return response.statusCode;
  };
  const authorization = `Bearer ${token}`;
  assert.equal(await status('127.0.0.1', {}), 403);
  assert.equal(await status('127.0.0.1', { authorization }), 200);
  for (const name of ['X-Forwarded-For', 'Forwarded', 'X-Real-IP']) {
    assert.equal(await status('127.0.0.1', { [name]: '127.0.0.1' }), 403, name);
    assert.equal(await status('127.0.0.1', { [name]: '10.1.1.1', authorization }), 200, name);
  }
  assert.equal(await status('127.0.0.1', { 'X-Forwarded-For': 'x', authorization: `Bearer ${service.key}` }), 403);
  if (address === undefined) return t.diagnostic('NO OTHER ADDRESS on this machine: not tried from outside');
  assert.equal(await status(address, {}), 403);
  assert.equal(await status(address, { authorization: 'Bearer wrong' }), 403);
  assert.equal(await status(address, { authorization }), 200);
});

test('a service that counts nothing has no metrics', async (t) => {
  const service = await startService(t, { config: { ...DEFAULT_CONFIG, metrics: { enabled: false } } });
  assert.equal((await fetch(`${service.url}/metrics`)).status, 404);
});
