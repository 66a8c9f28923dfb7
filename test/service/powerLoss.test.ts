import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { readdirSync, rmSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { DEFAULT_CONFIG } from '../../src/service/serviceConfig.ts';
import { temporaryFolder } from './support/service.ts';
import { ServiceProcess } from './support/serviceProcess.ts';

// One job at once, so that what is submitted after a long one waits.
const ONE_AT_ONCE = { config: { ...DEFAULT_CONFIG, process: { ...DEFAULT_CONFIG.process, max_jobs: 1 } } };

interface Waiting {
  readonly home: string;
  readonly blocker: string;
  readonly id: string;
  readonly folder: string;
}

/** A service that was killed while a job waited, on a machine that was then started anew. */
async function losePower(t: TestContext, bytes: number): Promise<Waiting> {
  const home = await temporaryFolder(t);
  const data = join(home, 'service');
  const first = await ServiceProcess.start(home, ONE_AT_ONCE);
  t.after(() => first.end('SIGKILL'));
  const blocker = await first.client.submit({ 'a.sh': 'exec sleep 600' }, { script: 'a.sh' });
  await first.client.untilRunning(blocker);
  const files = { 'run.sh': 'cat word.txt; wc -c < large.bin', 'word.txt': 'kept\n', 'large.bin': randomBytes(bytes) };
  const id = await first.client.submit(files, { script: 'run.sh' });
  await first.end('SIGKILL');
  const database = new DatabaseSync(join(data, 'service.db'));
  database.exec("UPDATE workspaces SET boot = 'the one before'");
  database.close();
  return { home, blocker, id, folder: join(data, 'jobs', id) };
}

for (const bytes of [100, 3_000_000]) {
  test(`a job that waited when the power failed runs with all of its ${bytes} bytes, though its files were lost`, async (t) => {
    const { home, blocker, id, folder } = await losePower(t, bytes);
    truncateSync(join(folder, 'workspace', 'word.txt'), 0);
    rmSync(join(folder, 'workspace', 'large.bin'));
    rmSync(join(folder, 'job.json'));
    const second = await ServiceProcess.start(home, ONE_AT_ONCE);
    t.after(() => second.end('SIGKILL'));
    await second.client.request(`/v1/jobs/${blocker}`, { method: 'DELETE' });
    assert.equal((await second.client.untilEnd(id)).state, 'succeeded');
    assert.equal(await second.client.output(id), `kept\n${bytes}\n`);
    // Files are removed after the end is reported.
    while (readdirSync(folder).length > 1) await sleep(20);
    assert.deepEqual(readdirSync(folder), ['results.tar.gz']);
  });
}
