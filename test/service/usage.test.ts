import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { openAdmin } from '../../src/service/admin/adminClient.ts';
import { GATE, openGate } from './support/gate.ts';
import { jobsAtOnce, type ServiceClient, temporaryFolder, type WireEvent } from './support/service.ts';
import { ServiceProcess } from './support/serviceProcess.ts';

const skip = process.platform === 'linux' ? false : 'only Linux has /proc';
const MEGABYTES = 150;
const SCRIPT = `node -e 'const memory = Buffer.alloc(${MEGABYTES}e6, 1); console.log("allocated"); setInterval(() => memory.length, 1000)' & ${GATE}; kill %1`;

const usageOf = (events: readonly WireEvent[]): readonly WireEvent[] => events.filter(({ event }) => event === 'usage');

/** Waits for reports since the job has its memory. */
async function untilUsed(client: ServiceClient, id: string, count: number): Promise<void> {
  const left = new AbortController();
  const response = await client.request(`/v1/jobs/${id}/events`, { signal: left.signal });
  let text = '';
  for await (const chunk of response.body ?? []) {
    text += Buffer.from(chunk).toString();
    const [, since = ''] = text.split('allocated');
    if ((since.match(/^event: usage$/gm)?.length ?? 0) >= count && text.endsWith('\n\n')) break;
  }
  left.abort();
}

test('what a job uses is in its events, once, across a crash of the service', { skip }, async (t) => {
  const home = await temporaryFolder(t);
  const options = { config: jobsAtOnce(1) };
  const first = await ServiceProcess.start(home, options);
  t.after(() => first.end('SIGKILL'));
  const id = await first.client.submit({ 'a.sh': SCRIPT }, { script: 'a.sh' });
  await untilUsed(first.client, id, 2);
  await first.end('SIGKILL');
  await sleep(2_500); // a report that no service reads
  const second = await ServiceProcess.start(home, options);
  t.after(() => second.end('SIGKILL'));
  await untilUsed(second.client, id, 4);
  // What its operator sees of it meanwhile.
  {
    using admin = await openAdmin(second.client.data, { mayCreate: false });
    const { usage: shown, disk_bytes: diskBytes } = await admin.call('jobs.show', { job_id: id });
    assert.ok((shown?.memory_bytes ?? 0) >= MEGABYTES * 1e6, JSON.stringify(shown));
    assert.ok((shown?.cpu_cores ?? -1) >= 0 && (shown?.cpu_waiting ?? -1) >= 0, JSON.stringify(shown));
    assert.ok(diskBytes > 0);
  }
  await openGate(second.client.data, id);
  await second.client.untilEnd(id);

  const events = await second.client.events(id);
  const usage = usageOf(events);
  const times = usage.map(({ data }) => Date.parse(String(data['at'])));
  assert.deepEqual(
    times,
    times.toSorted((a, b) => a - b),
  );
  for (const time of times.slice(1).map((at, index) => at - (times[index] ?? 0))) {
    assert.ok(time > 1_000, `two reports are ${time} ms apart`);
  }
  // The last report may be of the moment after the memory was released.
  const megabytes = Math.max(...usage.map(({ data }) => Number(data['memory_bytes']))) / 1e6;
  assert.ok(megabytes >= MEGABYTES && megabytes < MEGABYTES + 150, `${megabytes} MB instead of ${MEGABYTES} MB`);
  assert.ok(usage.every(({ data }) => Number(data['cpu_cores']) >= 0 && Number(data['cpu_waiting']) >= 0));
  const middle = String(usage[1]?.id);
  assert.deepEqual(usageOf(await second.client.events(id, { 'last-event-id': middle })), usage.slice(2));
});
