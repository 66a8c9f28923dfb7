import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { existsSync, readdirSync, rmSync, truncateSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { DEFAULT_CONFIG } from '../../src/service/serviceConfig.ts';
import { makeArchive } from './support/archive.ts';
import { sendTo, submitNames } from './support/contents.ts';
import { type ServiceClient, temporaryFolder } from './support/service.ts';
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
async function losePower(t: TestContext, bytes: number, isByContent = false): Promise<Waiting> {
  const home = await temporaryFolder(t);
  const data = join(home, 'service');
  const first = await ServiceProcess.start(home, ONE_AT_ONCE);
  t.after(() => first.end('SIGKILL'));
  const blocker = await first.client.submit({ 'a.sh': 'exec sleep 600' }, { script: 'a.sh' });
  await first.client.untilRunning(blocker);
  const files = { 'run.sh': 'cat word.txt; wc -c < large.bin', 'word.txt': 'kept\n', 'large.bin': randomBytes(bytes) };
  const id = isByContent
    ? await submitByContent(first.client, home, files)
    : await first.client.submit(files, { script: 'run.sh' });
  await first.end('SIGKILL');
  const database = new DatabaseSync(join(data, 'service.db'));
  database.exec("UPDATE workspaces SET boot = 'the one before'");
  database.close();
  return { home, blocker, id, folder: join(data, 'jobs', id) };
}

async function submitByContent(client: ServiceClient, home: string, files: Record<string, string | Buffer>) {
  const archive = join(home, 'sent.tar.gz');
  await writeFile(archive, await makeArchive(files));
  const meta = { script: 'run.sh', max_runtime: 60 };
  const response = await submitNames(client, await sendTo(client, archive), {}, meta);
  assert.equal(response.status, 201);
  // A job that was accepted needs the contents no more.
  rmSync(join(client.data, 'contents'), { recursive: true });
  return ((await response.json()) as { job_id: string }).job_id;
}

for (const [bytes, isByContent] of [
  [100, false],
  [3_000_000, false],
  [100, true],
  [3_000_000, true],
] as const) {
  const how = isByContent ? ', sent by content' : '';
  test(`a job that waited when the power failed runs with all of its ${bytes} bytes${how}, though its files were lost`, async (t) => {
    const { home, blocker, id, folder } = await losePower(t, bytes, isByContent);
    // Only that of a large archive is written before the job starts.
    const isWritten = existsSync(join(folder, 'workspace'));
    assert.equal(isWritten, !isByContent && bytes > 1_000_000);
    if (isWritten) {
      truncateSync(join(folder, 'workspace', 'word.txt'), 0);
      rmSync(join(folder, 'workspace', 'large.bin'));
      rmSync(join(folder, 'job.json'));
    }
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
