import { setTimeout as sleep } from 'node:timers/promises';
import type { JobLedger } from './ledger.ts';

type LedgerMethod = Exclude<
  { [Name in keyof JobLedger]: JobLedger[Name] extends (...input: never[]) => unknown ? Name : never }[keyof JobLedger],
  'dispose'
>;

/** The ledger in a worker thread: the same calls, each returning a promise. Arguments and results are plain data. */
export type AsyncLedger = {
  readonly [Name in LedgerMethod]: (...input: Parameters<JobLedger[Name]>) => Promise<ReturnType<JobLedger[Name]>>;
};

/** The ledger of this thread behind the asynchronous interface. */
export function directLedger(ledger: JobLedger): AsyncLedger {
  return {
    insert: async (record) => ledger.insert(record),
    update: async (id, patch) => ledger.update(id, patch),
    get: async (id) => ledger.get(id),
    list: async (query) => ledger.list(query),
    spending: async (host, periods) => ledger.spending(host, periods),
    use: async (host, periods) => ledger.use(host, periods),
    hosts: async () => ledger.hosts(),
    find: async (name, host) => ledger.find(name, host),
    findJob: async (host, jobId) => ledger.findJob(host, jobId),
    remove: async (id) => ledger.remove(id),
    delete: async (id) => ledger.delete(id),
    changesSince: async (number) => ledger.changesSince(number),
    revision: async () => ledger.revision(),
    claim: async (id, owner, ttlMs) => ledger.claim(id, owner, ttlMs),
    renew: async (id, owner, ttlMs) => ledger.renew(id, owner, ttlMs),
    release: async (id, owner) => ledger.release(id, owner),
    settleAbandoned: async () => ledger.settleAbandoned(),
  };
}

export interface LedgerWatchOptions {
  readonly signal: AbortSignal;
  readonly intervalMs?: number;
  /** The change mark of the stored ledger, which is checked instead of the ledger while its thread is stopped. */
  readonly resting?: { isResting(): boolean; readMark(): Promise<string | undefined> } | undefined;
}

/** Yields the ledger's revision at the start and after each change by any process. Returns when the signal aborts, without throwing. */
export async function* ledgerChanges(
  ledger: Pick<AsyncLedger, 'revision'>,
  { signal, intervalMs = 500, resting }: LedgerWatchOptions,
): AsyncGenerator<number, void> {
  let last: number | undefined;
  let lastMark: string | undefined;
  while (!signal.aborted) {
    const mark = await resting?.readMark(); // before the ledger, so that a change in between is noticed next time
    if (last === undefined || mark !== lastMark || resting?.isResting() !== true) {
      const revision = await ledger.revision();
      if (revision !== last) yield revision;
      last = revision;
      lastMark = mark;
    }
    await sleep(intervalMs, undefined, { signal, ref: false }).catch(() => {});
  }
}
