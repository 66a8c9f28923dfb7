import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { RemoteClient } from '../../src/remote/client.ts';
import { AuthError, InsufficientCreditsError, RemoteError } from '../../src/remote/http/remoteErrors.ts';
import type { JobEvent } from '../../src/remote/events/jobEvent.ts';
import { DEFAULT_CONFIG } from '../../src/service/serviceConfig.ts';
import { makeArchive, readArchive } from './support/archive.ts';
import { startService, temporaryFolder } from './support/service.ts';

test('the client does all of it against the real service', async (t) => {
  const service = await startService(t);
  const folder = await temporaryFolder(t);
  const archive = join(folder, 'w.tar.gz');
  await writeFile(archive, await makeArchive({ 'a.sh': 'echo hello; echo made > made.txt' }));
  await using client = new RemoteClient(`${service.url}/`, service.key);
  assert.equal((await client.me()).credits, 1000);
  const created = await client.submitJob(archive, { script: 'a.sh', maxRuntime: 30.9, project: 'demo' });
  assert.equal(created.credit_hold, 0.05);
  assert.equal(created.credits_remaining, 999.95);
  const events: JobEvent[] = [];
  for await (const event of client.streamEvents(created.job_id)) events.push(event);
  assert.equal(events.at(-1)?.event, 'end');
  const rest: JobEvent[] = [];
  for await (const event of client.streamEvents(created.job_id, { lastEventId: '3' })) rest.push(event);
  assert.deepEqual(rest, events.slice(3));
  const job = await client.getJob(created.job_id);
  assert.deepEqual([job.state, job.max_runtime, job.project], ['succeeded', 30, 'demo']);
  const results = await client.downloadArtifacts(created.job_id, join(folder, 'results.tar.gz'));
  assert.deepEqual(await readArchive(await readFile(results)), { 'made.txt': 'made\n' });
  assert.equal((await client.cancel(created.job_id))['state'], 'succeeded');
});

test('what the service refuses comes out as the typed errors, also in the middle of an upload', async (t) => {
  const limits = { ...DEFAULT_CONFIG.limits, upload_gb: 0.001 };
  const service = await startService(t, { credits: 0, config: { ...DEFAULT_CONFIG, limits } });
  const folder = await temporaryFolder(t);
  const archive = join(folder, 'w.tar.gz');
  await writeFile(archive, await makeArchive({ 'a.sh': 'echo' }));
  const job = { script: 'a.sh', maxRuntime: 30 };
  await using client = new RemoteClient(service.url, service.key);
  await assert.rejects(client.submitJob(archive, job), (error) => {
    assert.ok(error instanceof InsufficientCreditsError);
    assert.match(error.message, /needs 0.05 credits/);
    return true;
  });
  await assert.rejects(client.getJob('nothing'), { name: 'RemoteError', status: 404 });
  const large = join(folder, 'large.tar.gz');
  await writeFile(large, Buffer.alloc(200_000_000));
  await assert.rejects(client.submitJob(large, job), (error) => {
    assert.ok(error instanceof RemoteError, String(error));
    assert.equal(error.status, 413);
    return true;
  });
  await using stranger = new RemoteClient(service.url, 'wrong');
  await assert.rejects(stranger.me(), AuthError);
  await assert.rejects(stranger.submitJob(large, job), AuthError);
});
