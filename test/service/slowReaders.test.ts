import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { test } from 'node:test';
import { DEFAULT_CONFIG } from '../../src/service/serviceConfig.ts';
import { type ServiceClient, temporaryFolder } from './support/service.ts';
import { ServiceProcess } from './support/serviceProcess.ts';

const LINES = 100_000;
const LINE = 'x'.repeat(999);
const READERS = 20;

/** Asks for the events of a job over a connection that takes nothing until it is resumed. */
async function openStalled({ url, key }: ServiceClient, id: string): Promise<Socket> {
  const { hostname, port, host } = new URL(url);
  const socket = connect(Number(port), hostname);
  await once(socket, 'connect');
  socket.pause();
  socket.write(`GET /v1/jobs/${id}/events HTTP/1.1\r\nHost: ${host}\r\nAuthorization: Bearer ${key}\r\n\r\n`);
  return socket;
}

/** Megabytes of memory that a process had at most. */
function peakMegabytes(pid: number): number {
  return Number(/^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024;
}

test('readers that stop reading for 100 MB of output hold up neither the job nor anyone else, cost next to no memory, and get all of it later', async (t) => {
  if (process.platform !== 'linux')
    return t.skip('MEMORY IS NOT CHECKED: only Linux shows the highest memory of a process');
  const home = await temporaryFolder(t);
  const service = await ServiceProcess.start(home, { config: { ...DEFAULT_CONFIG, logs: { max_mb_per_job: 200 } } });
  t.after(() => service.end('SIGKILL'));
  const { client } = service;
  const script = `const line = '${LINE}\\n'; for (let i = 0; i < ${LINES}; i += 1) require('fs').writeSync(1, line);`;
  const id = await client.submit({ 'a.js': script }, { script: 'a.js' });
  const stalled = await Promise.all(Array.from({ length: READERS }, () => openStalled(client, id)));
  t.after(() => stalled.forEach((socket) => socket.destroy()));
  const before = peakMegabytes(service.pid);

  const awake = await client.request(`/v1/jobs/${id}/events`);
  let received = 0;
  for await (const chunk of awake.body ?? []) received += (chunk as Uint8Array).length;
  assert.ok(received > LINES * LINE.length, 'one who reads gets it meanwhile');
  assert.equal((await client.job(id)).state, 'succeeded');
  // Taking over 100 MB of output takes about 95 MB, most of it garbage; holding it for the readers would take 2 GB.
  const grown = peakMegabytes(service.pid) - before;
  assert.ok(grown < 200, `${READERS} sleeping readers and one that reads took ${grown.toFixed(0)} MB`);

  const [late] = stalled;
  assert.ok(late);
  let lateBytes = 0;
  let end = '';
  late.on('data', (chunk: Buffer) => {
    lateBytes += chunk.length;
    end = (end + chunk.toString('latin1')).slice(-400);
  });
  late.resume();
  while (!end.includes('event: end')) await once(late, 'data');
  assert.ok(lateBytes > LINES * LINE.length);
});
