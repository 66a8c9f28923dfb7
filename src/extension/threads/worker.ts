import { parentPort } from 'node:worker_threads';
import * as l10n from '@vscode/l10n';
import { threadData } from '../../core/processes/threadData.ts';
import type { RemoteService } from '../../core/rpc/rpcMessages.ts';
import { type LoadableService, serveCalls } from '../../core/rpc/serveCalls.ts';
import type { Archiver } from '../../jobs/archives/archiver.ts';
import type { BrowsedResults } from '../../jobs/results/browsedResults.ts';
import type { ReadDetails } from '../../jobs/failure/failureDetails.ts';
import { directLedger } from '../../jobs/ledger/asyncLedger.ts';
import { JobLedger } from '../../jobs/ledger/ledger.ts';
import type { ResultCounter } from '../../jobs/log/resultCounter.ts';
import type { ResultJournals } from '../../jobs/results/resultJournals.ts';
import type { Selections } from '../../jobs/selection/selections.ts';
import type { currentLine } from '../../jobs/source/currentLine.ts';
import type { compareLines } from '../../jobs/source/lineMap.ts';
import type { SubmittedFiles } from '../../jobs/archives/submittedFiles.ts';

/** The functions of the worker thread: everything that would block the extension host. */
export interface WorkerService extends Readonly<Record<string, object>> {
  readonly archiver: Archiver;
  readonly selections: Selections;
  readonly ledger: Omit<JobLedger, 'problem' | 'isStored' | 'dispose'>;
  readonly journals: Pick<ResultJournals, 'recover'>;
  readonly results: ResultCounter;
  readonly browsed: Omit<BrowsedResults, 'read'>;
  readonly submitted: SubmittedFiles;
  readonly failures: { readonly details: ReadDetails };
  readonly sources: { readonly currentLine: typeof currentLine; readonly compareLines: typeof compareLines };
  readonly thread: { isNeeded(): boolean };
}

/** The worker thread as other threads call it. */
export type Worker = RemoteService<WorkerService>;

export interface WorkerData {
  readonly home: string;
  /** The translated texts by the English ones; undefined in English. */
  readonly texts: Readonly<Record<string, string>> | undefined;
}

if (parentPort) {
  const { home, texts } = threadData<WorkerData>();
  if (texts !== undefined) l10n.config({ contents: texts });
  const ledger = new JobLedger(home);
  let selections: Selections | undefined;
  // The list of jobs waits for the thread's start, so the start loads only the ledger.
  const service: LoadableService<WorkerService> = {
    ledger,
    archiver: async () => (await import('../../jobs/archives/archiver.ts')).directArchiver,
    selections: async () => (selections = new (await import('../../jobs/selection/selections.ts')).Selections()),
    journals: async () => new (await import('../../jobs/results/resultJournals.ts')).ResultJournals(home),
    results: async () => new (await import('../../jobs/log/resultCounter.ts')).ResultCounter(home),
    browsed: async () => new (await import('../../jobs/results/browsedResults.ts')).BrowsedResults(home),
    submitted: async () => new (await import('../../jobs/archives/submittedFiles.ts')).SubmittedFiles(home),
    failures: async () => {
      const { detailsReader } = await import('../../jobs/failure/failureDetails.ts');
      return { details: detailsReader({ ledger: directLedger(ledger), home }, new AbortController().signal) };
    },
    sources: async () => {
      const [{ currentLine }, { compareLines }] = await Promise.all([
        import('../../jobs/source/currentLine.ts'),
        import('../../jobs/source/lineMap.ts'),
      ]);
      return { currentLine, compareLines };
    },
    thread: { isNeeded: () => selections?.isHolding === true || !ledger.isStored },
  };
  serveCalls(parentPort, service);
  process.once('exit', () => ledger.dispose());
}
