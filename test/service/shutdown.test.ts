import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { SlurmCluster, slurmIsMissing } from '../../scripts/slurm/cluster.ts';
import { readConfig } from '../../src/service/serviceConfig.ts';
import type { ServeOptions } from '../../src/service/serveOptions.ts';
import { makeArchive } from './support/archive.ts';
import { GATE, openGate } from './support/gate.ts';
import { parseAll, type ServiceClient, temporaryFolder, type WireEvent } from './support/service.ts';
import { ServiceProcess } from './support/serviceProcess.ts';

// Longer than any test waits: where the service ends all the same, something else than this limit ended it.
const ENDLESS_MS = 3_600_000;
const GUARD = { timeout: 5 * 60_000 };

async function start(t: TestContext, home: string, options: Partial<ServeOptions> = {}): Promise<ServiceProcess> {
  const service = await ServiceProcess.start(home, options);
  t.after(() => service.end('SIGKILL'));
  return service;
}

/** Begins a submission, of which the service has written a part to a file, and holds its last bytes back until `finish`. */
async function beginUpload(t: TestContext, service: ServiceClient) {
  const archive = await makeArchive({ 'a.sh': 'echo uploaded', 'data.bin': randomBytes(1_000_000) });
  const head =
    '--b\r\nContent-Disposition: form-data; name="tarball"; filename="w.tar.gz"\r\nContent-Type: application/gzip\r\n\r\n';
  const meta = JSON.stringify({ script: 'a.sh', max_runtime: 60 });
  const tail = `\r\n--b\r\nContent-Disposition: form-data; name="meta"\r\n\r\n${meta}\r\n--b--\r\n`;
  const body = Buffer.concat([Buffer.from(head), archive, Buffer.from(tail)]);
  const { hostname, port, host } = new URL(service.url);
  const socket: Socket = connect(Number(port), hostname);
  t.after(() => socket.destroy());
  const closed = new Promise<string>((resolve) => {
    let answer = '';
    socket.on('data', (chunk: Buffer) => (answer += chunk.toString()));
    socket.once('error', () => {}).once('close', () => resolve(answer));
  });
  socket.write(
    `POST /v1/jobs HTTP/1.1\r\nHost: ${host}\r\nAuthorization: Bearer ${service.key}\r\nConnection: close\r\n` +
      `Content-Type: multipart/form-data; boundary=b\r\nContent-Length: ${body.length}\r\n\r\n`,
  );
  socket.write(body.subarray(0, 500_000));
  while (readdirSync(join(service.data, 'jobs')).length === 0) await sleep(10);
  const held = body.subarray(500_000);
  // A byte now and then: the upload does not stall, and does not come to its end for hours.
  const trickle = async (): Promise<void> => {
    for (const byte of held) {
      if (socket.destroyed) return;
      socket.write(Buffer.of(byte));
      await sleep(100);
    }
  };
  return { finish: () => socket.write(held), trickle, answer: closed };
}

/** Asks until the service says what is waited for, on connections of its own. */
async function untilHealth(service: ServiceClient, status: string): Promise<Response> {
  for (;;) {
    const response = await fetch(`${service.url}/healthz`, { headers: { connection: 'close' } });
    const body = (await response.clone().json()) as { status: string };
    if (body.status === status) return response;
    await sleep(10);
  }
}

test('a service that is asked to stop lets an upload finish, refuses new requests, and the next one runs the job', async (t) => {
  const home = await temporaryFolder(t);
  const first = await start(t, home, { drainMs: ENDLESS_MS });
  const upload = await beginUpload(t, first.client);
  const ended = first.end('SIGTERM');
  const health = await untilHealth(first.client, 'stopping');
  assert.deepEqual([health.status, health.headers.get('retry-after')], [503, '5']);
  const refused = await first.client.send({ 'a.sh': 'true' }, { script: 'a.sh' });
  assert.deepEqual([refused.status, refused.headers.get('retry-after')], [503, '5']);
  assert.match(((await refused.json()) as { detail: string }).detail, /being restarted. Try again/);
  upload.finish();
  const answer = await upload.answer;
  assert.match(answer, /^HTTP\/1\.1 201 /);
  const id = /"job_id":"(\w+)"/.exec(answer)?.[1] ?? '';
  await ended;
  assert.equal(first.exitCode, 0);
  const { client } = await start(t, home);
  assert.equal((await client.untilEnd(id)).state, 'succeeded');
  assert.equal(await client.output(id), 'uploaded\n');
});

test('an upload that does not come to its end is not waited for without end, and leaves nothing', GUARD, async (t) => {
  const home = await temporaryFolder(t);
  const first = await start(t, home, { drainMs: 500 });
  const upload = await beginUpload(t, first.client);
  void upload.trickle();
  await first.end('SIGTERM');
  assert.equal(first.exitCode, 0);
  assert.doesNotMatch(await upload.answer, /201/);
  const { client } = await start(t, home);
  assert.deepEqual((await client.json<{ jobs: unknown[] }>('/v1/jobs')).jobs, []);
});

test('the second SIGTERM ends the service at once', GUARD, async (t) => {
  const home = await temporaryFolder(t);
  const first = await start(t, home, { drainMs: ENDLESS_MS });
  const upload = await beginUpload(t, first.client);
  void upload.trickle();
  const ended = first.end('SIGTERM');
  await untilHealth(first.client, 'stopping');
  await first.end('SIGTERM');
  await ended;
  assert.notEqual(first.exitCode, 0);
});

/** Reads one connection of an event stream into `seen`; gives whether the job has ended. */
async function readOn(client: ServiceClient, id: string, seen: WireEvent[]): Promise<boolean> {
  const last = seen.at(-1)?.id;
  const headers: Record<string, string> = last === undefined ? {} : { 'last-event-id': String(last) };
  const response = await client.request(`/v1/jobs/${id}/events`, { headers });
  if (response.status !== 200) return false;
  let text = '';
  for await (const chunk of response.body ?? []) {
    text += Buffer.from(chunk).toString();
    const end = text.lastIndexOf('\n\n');
    if (end === -1) continue;
    seen.push(...parseAll(text.slice(0, end)));
    text = text.slice(end + 2);
  }
  return seen.at(-1)?.event === 'end';
}

/** Restarts a service three times under a job and its reader, who must see each event of it once. */
async function restartUnderJob(t: TestContext, options: Partial<ServeOptions>): Promise<void> {
  const home = await temporaryFolder(t);
  let service = await start(t, home, options);
  // A part of its lines before each restart, and the last behind all of them.
  const script = `for part in 0 1 2 3; do
    [ $part = 0 ] || { ${GATE}; }
    for line in 0 1 2 3 4 5 6 7 8 9; do echo line $((10 * part + line)); done
  done`;
  const id = await service.client.submit({ 'a.sh': script }, { script: 'a.sh', max_runtime: 3_600 });
  const seen: WireEvent[] = [];
  let isOver = false;
  let breaks = 0;
  const reading = (async () => {
    while (!isOver) {
      try {
        isOver = await readOn(service.client, id, seen);
      } catch {
        // There is no service for a moment.
      }
      breaks += 1;
      await sleep(20);
    }
  })();
  for (let restart = 0; restart < 3; restart += 1) {
    const hasPart = ({ data }: WireEvent): boolean => String(data['text']).includes(`line ${10 * restart + 9}\n`);
    while (!seen.some(hasPart)) await sleep(20);
    const before = service;
    await before.end('SIGTERM');
    assert.equal(before.exitCode, 0);
    await openGate(before.client.data, id);
    service = await start(t, home, options);
  }
  await reading;
  assert.ok(breaks > 3, 'the reader was interrupted by each restart');
  assert.deepEqual(
    seen.map((event) => event.id),
    seen.map((_, index) => index + 1),
  );
  const lines = seen.filter(({ event }) => event === 'log').map(({ data }) => String(data['text']));
  assert.equal(lines.join(''), Array.from({ length: 40 }, (_, line) => `line ${line}\n`).join(''));
  assert.deepEqual(seen, await service.client.events(id));
}

test('a job runs on over three restarts, and a reader who comes back sees each event once', async (t) => {
  await restartUnderJob(t, {});
});

test('a job in a Slurm cluster runs on over three restarts, and a reader who comes back sees each event once', async (t) => {
  const missing = await slurmIsMissing();
  if (missing !== undefined) return t.skip(`NO SLURM: ${missing}`);
  const folder = await mkdtemp('/tmp/fwslurm-');
  const cluster = await SlurmCluster.start(folder);
  process.env['SLURM_CONF'] = cluster.env.SLURM_CONF;
  try {
    const machineClass = { name: 'small', partition: 'cpu-small', credits_per_minute: 1, memory_gb: 0.25 };
    const file = join(folder, 'service.json');
    const slurm = { poll_seconds: 0.3, folder: join(cluster.sharedFolder, 'service') };
    await writeFile(file, JSON.stringify({ executor: 'slurm', machine_classes: [machineClass], slurm }));
    await restartUnderJob(t, { config: await readConfig(file), data: join(cluster.privateFolder, 'service') });
  } finally {
    delete process.env['SLURM_CONF'];
    await cluster.stop();
    await rm(folder, { recursive: true, force: true, maxRetries: 5 });
  }
});
