import type { WindowParts } from '../contributions/parts.ts';
import type { FlowRuntime } from '../../flows/run/protocol/runRequest.ts';
import type { StartedSubmits } from '../../jobs/submit/startedSubmits.ts';
import type { AccountMonitor } from '../account/account.ts';
import type { Hosts } from '../account/hosts.ts';
import type { JobLog } from '../jobs/log/jobLog.ts';
import type { JobStore } from '../jobs/store/jobStore.ts';
import type { SweepPages } from '../sweeps/sweepPages.ts';
import type { SweepRuns } from '../sweeps/sweepRuns.ts';
import type { Worker } from '../threads/worker.ts';
import type { FilesView } from './preflight/filesView.ts';
import type { SubmitMemory } from './preflight/submitMemory.ts';

/** What a submit uses. */
export interface SubmitDeps extends Pick<WindowParts, 'home' | 'ledger' | 'log' | 'signal'> {
  readonly account: AccountMonitor;
  /** The tree of the files of a submit. */
  readonly files: FilesView;
  readonly flowRuntime: FlowRuntime;
  readonly hosts: Hosts;
  readonly jobLog: JobLog;
  readonly memory: SubmitMemory;
  readonly selections: Worker['selections'];
  readonly store: JobStore;
  /** The submits that windows are packing. */
  readonly submits: StartedSubmits;
  readonly sweepPages: SweepPages;
  readonly sweeps: SweepRuns;
}
