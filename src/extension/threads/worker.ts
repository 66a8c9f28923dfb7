import { parentPort } from 'node:worker_threads';
import { threadData } from '../../core/processes/threadData.ts';
import { serveCalls } from '../../core/processes/workerRpc.ts';
import { type Archiver, directArchiver } from '../../jobs/archives/archiver.ts';
import { detailsReader, type ReadDetails } from '../../jobs/failure/failureDetails.ts';
import { directLedger } from '../../jobs/ledger/asyncLedger.ts';
import { Selections } from '../../jobs/selection/selections.ts';
import { SubmittedFiles } from '../../jobs/submitted/submittedFiles.ts';
import { currentLine } from '../../jobs/source/currentLine.ts';
import { BrowsedResults } from '../../jobs/browsing/browsedResults.ts';
import { JobLedger } from '../../jobs/ledger/ledger.ts';
import { ResultCounter } from '../../jobs/log/resultCounter.ts';
import { ResultJournals } from '../../jobs/results/resultJournals.ts';

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
  readonly sources: { readonly currentLine: typeof currentLine };
  readonly thread: { isNeeded(): boolean };
}

if (parentPort) {
  const { home } = threadData<{ readonly home: string }>();
  const ledger = new JobLedger(home);
  const selections = new Selections();
  const service: WorkerService = {
    archiver: directArchiver,
    selections,
    ledger,
    journals: new ResultJournals(home),
    results: new ResultCounter(home),
    browsed: new BrowsedResults(home),
    submitted: new SubmittedFiles(home),
    failures: { details: detailsReader({ ledger: directLedger(ledger), home }, new AbortController().signal) },
    sources: { currentLine },
    thread: { isNeeded: () => selections.isHolding || !ledger.isStored },
  };
  serveCalls(parentPort, service);
  process.once('exit', () => ledger.dispose());
}
