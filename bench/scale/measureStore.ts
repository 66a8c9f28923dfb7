import { statSync } from 'node:fs';
import { join } from 'node:path';
import { LOCAL_ACCOUNT } from '../../src/service/store/accounts/accountTable.ts';
import { Store } from '../../src/service/store/store.ts';
import { storeFinishedJobs } from '../support/storedJobs.ts';
import type { Calibration } from './calibration.ts';
import { round } from './cpuMeter.ts';

const JOBS = 5_000;
const COMMITS = 300;
const CHANGES = 400;
const EVENTS = 50_000;
const EVENTS_AT_ONCE = 500;
const TEXT = `${'x'.repeat(79)}\n`;

/** Measures the store alone, on the disk of `folder`: transactions, one after the other and many as one, and its file. */
export async function measureStore(folder: string): Promise<Calibration['store']> {
  const path = join(folder, 'service.db');
  const empty = new Store(folder);
  empty.dispose();
  const emptyBytes = statSync(path).size;
  const ids = await storeFinishedJobs(folder, JOBS);
  const filledBytes = statSync(path).size;

  const store = new Store(folder);
  const line = { type: 'log' as const, data: { stream: 'stdout' as const, text: TEXT } };
  const append = (index: number, count = 1): Promise<void> =>
    store.appendOutput(
      ids[index % ids.length] ?? '',
      Array.from({ length: count }, () => line),
      index,
    );
  const waits: number[] = [];
  for (let commit = 0; commit < COMMITS; commit += 1) {
    const [startedAt, cpuBefore] = [performance.now(), process.cpuUsage()];
    // A change that shares its transaction with no other.
    store.keys.add({ account: LOCAL_ACCOUNT, label: `bench ${commit}`, createdAt: Date.now(), expiresAt: null });
    const { user, system } = process.cpuUsage(cpuBefore);
    waits.push(performance.now() - startedAt - (user + system) / 1000);
  }
  const before = process.cpuUsage();
  await Promise.all(Array.from({ length: CHANGES }, (_, index) => append(index)));
  const { user, system } = process.cpuUsage(before);
  for (let index = 0; index < EVENTS / EVENTS_AT_ONCE; index += 1) await append(index, EVENTS_AT_ONCE);
  store.dispose();
  const eventBytes = statSync(path).size - filledBytes;
  return {
    // The mean, as the few that take long are what the event loop waits for most.
    commitMs: round(waits.reduce((sum, wait) => sum + wait, 0) / COMMITS),
    changeMs: round((user + system) / 1000 / CHANGES),
    bytesPerJob: Math.round((filledBytes - emptyBytes) / JOBS),
    bytesPerEvent: Math.round(eventBytes / (EVENTS + CHANGES)) - TEXT.length,
  };
}
