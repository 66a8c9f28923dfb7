import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import type { Ending, NewJob, StoredJob } from '../../../../src/service/store/jobs/jobTable.ts';
import { Store } from '../../../../src/service/store/store.ts';

/** A store with accounts that can spend much, in a folder of its own. */
export function storeOf(t: TestContext, accounts: readonly string[] = ['ada']) {
  const folder = mkdtempSync(join(tmpdir(), 'farwharf-store-'));
  const store = new Store(folder);
  t.after(() => {
    store.dispose();
    rmSync(folder, { recursive: true });
  });
  for (const id of accounts) {
    store.addAccount({ id, name: id, plan: 'team', createdAt: 0 });
    store.grant(id, { reference: 'start', amount: 1e9, at: 0 });
  }
  const add = async (id: string, change: Partial<NewJob> = {}): Promise<StoredJob> => {
    const job = { id, account: 'ada', script: 'a.sh', machineClass: 'cpu', maxRuntime: 60, createdAt: 1_000, hold: 1 };
    await store.submit({ ...job, ...change }, [], { spec: '{}', archive: Buffer.from('tar'), boot: 'boot-1' });
    return jobIn(store, id);
  };
  const finish = (job: StoredJob, change: Partial<Ending> = {}): StoredJob => {
    const ending: Ending = { state: 'succeeded', finishedAt: 3_000, exitCode: 0, reason: null, charged: 0, ...change };
    store.finish(job, ending, []);
    return jobIn(store, job.id);
  };
  return { folder, store, add, finish };
}

function jobIn(store: Store, id: string): StoredJob {
  const job = store.jobs.get(id);
  if (job === undefined) throw new Error(`There is no job ${id}.`);
  return job;
}
