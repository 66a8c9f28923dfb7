import assert from 'node:assert/strict';
import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { test } from 'node:test';
import { createGunzip, gunzipSync } from 'node:zlib';
import { DEFAULT_CONFIG } from '../../src/service/serviceConfig.ts';
import { GATE, openGate } from './support/gate.ts';
import { jobsAtOnce, parseAll, type ServiceClient, startService } from './support/service.ts';

/** Reads an event stream while it comes; `until` sees all of it each time there is more. */
async function readUntil(
  service: ServiceClient,
  id: string,
  until: (text: string) => boolean,
  headers: Record<string, string> = {},
): Promise<string> {
  const left = new AbortController();
  const response = await service.request(`/v1/jobs/${id}/events`, { headers, signal: left.signal });
  let text = '';
  for await (const chunk of response.body ?? []) {
    text += Buffer.from(chunk).toString();
    if (until(text)) break;
  }
  left.abort();
  return text;
}

test('output arrives while the job runs, in the order it was written', async (t) => {
  const service = await startService(t);
  const script = `for i in 1 2 3; do echo out $i; ${GATE}; echo err $i >&2; ${GATE}; done; sleep 600`;
  const id = await service.submit({ 'a.sh': script }, { script: 'a.sh' });
  // Each line is written when the one before it has arrived.
  let arrived = 0;
  const text = await readUntil(service, id, (sofar) => {
    const lines = sofar.match(/\b(out|err) \d\\n/g)?.length ?? 0;
    if (lines > arrived) void openGate(service.data, id);
    arrived = lines;
    return lines === 6 && sofar.endsWith('\n\n');
  });
  assert.equal((await service.job(id)).state, 'running');
  const logs = parseAll(text).filter(({ event }) => event === 'log');
  assert.deepEqual(
    logs.map(({ data }) => data['text']),
    ['out 1\n', 'err 1\n', 'out 2\n', 'err 2\n', 'out 3\n', 'err 3\n'],
  );
  await service.request(`/v1/jobs/${id}`, { method: 'DELETE' });
});

test('Last-Event-ID continues after that event, in a job that runs and in one that has ended', async (t) => {
  const service = await startService(t);
  const id = await service.submit({ 'a.sh': `echo one; ${GATE}; echo two` }, { script: 'a.sh' });
  const before = parseAll(await readUntil(service, id, (sofar) => sofar.includes('one')));
  const last = before.at(-1)?.id ?? 0;
  await openGate(service.data, id);
  const after = await service.events(id, { 'last-event-id': String(last) });
  const all = await service.events(id);
  assert.deepEqual([...before, ...after], all);
  assert.deepEqual(await service.events(id, { 'last-event-id': '2' }), all.slice(2));
  assert.deepEqual(await service.events(id, { 'last-event-id': String(all.length) }), []);
  assert.deepEqual(await service.events(id, { 'last-event-id': '999999' }), []);
});

test('a Last-Event-ID that is no number is refused', async (t) => {
  const service = await startService(t);
  const id = await service.submit({ 'a.sh': 'true' }, { script: 'a.sh' });
  await service.untilEnd(id);
  for (const value of ['x', '-1', '1.5', '9'.repeat(40)]) {
    const response = await service.request(`/v1/jobs/${id}/events`, { headers: { 'last-event-id': value } });
    assert.equal(response.status, 400, value);
    await response.body?.cancel();
  }
});

test('many readers of one job get the same, and one that leaves early harms nobody', async (t) => {
  const service = await startService(t);
  const script = 'for i in 1 2 3 4 5; do echo $i; sleep 0.1; done';
  const id = await service.submit({ 'a.sh': script }, { script: 'a.sh' });
  const readers = Array.from({ length: 50 }, () => service.events(id));
  await readUntil(service, id, (sofar) => sofar.includes('event'));
  const [first, ...others] = await Promise.all(readers);
  for (const other of others) assert.deepEqual(other, first);
  assert.equal(await service.output(id), '1\n2\n3\n4\n5\n');
});

test('a quiet stream carries a comment at least every 15 seconds', async (t) => {
  const service = await startService(t, { config: jobsAtOnce(1) });
  const running = await service.submit({ 'a.sh': 'sleep 600' }, { script: 'a.sh' });
  await service.untilRunning(running);
  // A running job has usage events; one that waits for it has none.
  const id = await service.submit({ 'a.sh': 'true' }, { script: 'a.sh' });
  const startedAt = Date.now();
  const text = await readUntil(service, id, (sofar) => sofar.includes(': keep-alive\n\n'));
  assert.ok(text.includes('keep-alive'));
  assert.ok(Date.now() - startedAt > 10_000, 'only when nothing else was sent');
  for (const job of [id, running]) await service.request(`/v1/jobs/${job}`, { method: 'DELETE' });
});

test('the end of the service ends its streams', async (t) => {
  const service = await startService(t);
  const id = await service.submit({ 'a.sh': 'sleep 600' }, { script: 'a.sh' });
  const open = async (job: string): Promise<Response> => service.request(`/v1/jobs/${job}/events`);
  const lastOf = async (stream: Response): Promise<string | undefined> => parseAll(await stream.text()).at(-1)?.event;
  await service.untilRunning(id);
  const stream = await open(id);
  await service.request(`/v1/jobs/${id}`, { method: 'DELETE' });
  assert.equal(await lastOf(stream), 'end');
  const second = await open(await service.submit({ 'a.sh': 'sleep 600' }, { script: 'a.sh' }));
  await service.stop();
  assert.notEqual(await lastOf(second), 'end');
});

/** An answer as it is on the wire, by a client that decodes nothing. */
async function rawEvents(service: ServiceClient, id: string, headers: Record<string, string>) {
  const options = { headers: { authorization: `Bearer ${service.key}`, ...headers } };
  const [response] = (await once(get(`${service.url}/v1/jobs/${id}/events`, options), 'response')) as [IncomingMessage];
  return { encoding: response.headers['content-encoding'], body: response };
}

test('a client that accepts gzip gets it, one member for the whole stream, and each event as soon as others do', async (t) => {
  const service = await startService(t);
  const id = await service.submit({ 'a.sh': 'echo one; sleep 600' }, { script: 'a.sh' });
  await service.untilRunning(id);
  const { encoding, body } = await rawEvents(service, id, { 'accept-encoding': 'br, gzip;q=0.8' });
  assert.equal(encoding, 'gzip');
  const gunzip = body.pipe(createGunzip());
  let text = '';
  for await (const chunk of gunzip) {
    text += String(chunk);
    if (text.includes('one')) await service.request(`/v1/jobs/${id}`, { method: 'DELETE' });
  }
  assert.deepEqual(parseAll(text), await service.events(id, { 'accept-encoding': 'identity' }));
  assert.equal(parseAll(text).at(-1)?.event, 'end');
});

test('a long log goes over the wire in a fraction of its size, and continues after any event', async (t) => {
  const service = await startService(t);
  const script = 'for (let i = 0; i < 20000; i += 1) console.log(`step ${i} loss ${(1 / (i + 1)).toFixed(6)}`)';
  const id = await service.submit({ 'a.mjs': script }, { script: 'a.mjs' });
  await service.untilEnd(id);
  const all = await service.events(id, { 'accept-encoding': 'identity' });
  for (const after of [0, 4, all.length - 1, all.length]) {
    const { body } = await rawEvents(service, id, { 'accept-encoding': 'gzip', 'last-event-id': String(after) });
    const packed = await buffer(body);
    const plain = gunzipSync(packed);
    assert.deepEqual(parseAll(plain.toString()), all.slice(after));
    if (after === 0) assert.ok(packed.length < plain.length / 3, `${packed.length} of ${plain.length} bytes`);
  }
});

test('gzip is not sent to a client that does not want it', async (t) => {
  const service = await startService(t);
  const id = await service.submit({ 'a.sh': 'true' }, { script: 'a.sh' });
  await service.untilEnd(id);
  for (const accepted of ['identity', 'gzip;q=0', 'br', '']) {
    const { encoding, body } = await rawEvents(service, id, { 'accept-encoding': accepted });
    assert.equal(encoding, undefined, accepted);
    assert.equal(parseAll((await buffer(body)).toString()).at(-1)?.event, 'end');
  }
});

test('a job that writes too much continues, its log says what is missing, and keeps the end', async (t) => {
  const service = await startService(t, { config: { ...DEFAULT_CONFIG, logs: { max_mb_per_job: 0.5 } } });
  const script = "for (let i = 0; i < 40_000; i += 1) console.log(i, 'x'.repeat(90)); console.log('the very end');";
  const id = await service.submit({ 'a.js': script }, { script: 'a.js' });
  assert.equal((await service.untilEnd(id)).state, 'succeeded');
  const all = await service.events(id);
  const text = all
    .filter(({ event }) => event === 'log')
    .map(({ data }) => String(data['text']))
    .join('');
  assert.equal(text.split('[output after 500 KB is not stored]').length, 2);
  assert.match(text, /\[\d\.\d MB of output were omitted; this is the end of it\]/);
  assert.ok(text.endsWith('the very end\n'));
  assert.ok(text.length < 900_000, `${text.length} characters`);
});
