import { randomBytes } from 'node:crypto';
import { LOCAL_ACCOUNT } from '../../src/service/store/accounts/accountTable.ts';
import { toMicro } from '../../src/service/store/accounts/creditLedger.ts';
import { Store } from '../../src/service/store/store.ts';

/** Fills the store of a data folder with jobs that have ended, and returns their IDs. */
export async function storeFinishedJobs(data: string, count: number): Promise<string[]> {
  const store = new Store(data, toMicro(1e9));
  const ids = Array.from({ length: count }, () => randomBytes(10).toString('hex'));
  const at = Date.now();
  const job = {
    account: LOCAL_ACCOUNT,
    script: 'train.py --epochs 3',
    project: 'bench',
    machineClass: 'local',
    maxRuntime: 60,
    createdAt: at,
    hold: 0,
  };
  const workspace = { spec: '{}', archive: null, boot: 'none' };
  await Promise.all(ids.map((id) => store.submit({ ...job, id }, [{ stream: 'stdout', text: `${id}\n` }], workspace)));
  for (const id of ids) {
    const stored = store.jobs.get(id);
    if (stored === undefined) continue;
    store.finish(stored, { state: 'succeeded', finishedAt: at, exitCode: 0, reason: null, charged: 0 }, []);
  }
  store.dispose();
  return ids;
}
