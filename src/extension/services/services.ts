import type * as vscode from 'vscode';
import type { Logger } from '../../core/log.ts';
import type { FlowRuntime } from '../../flows/run/protocol/runRequest.ts';
import type { ReadDetails } from '../../jobs/failure/failureDetails.ts';
import type { Emitter } from '../../core/processes/lifetime.ts';
import type { RemoteService } from '../../core/rpc/rpcMessages.ts';
import type { Archiver } from '../../jobs/archives/archiver.ts';
import type { ResultCounter } from '../../jobs/log/resultCounter.ts';
import type { ColouredLines } from '../../jobs/logView/colouredLines.ts';
import type { RecoveredDownload } from '../../jobs/results/resultJournals.ts';
import type { StartedSubmits } from '../../jobs/submit/startedSubmits.ts';
import type { SubmittedFiles } from '../../jobs/submitted/submittedFiles.ts';
import type { Selections } from '../../jobs/selection/selections.ts';
import type { AsyncLedger } from '../../jobs/ledger/asyncLedger.ts';
import type { AccountMonitor } from '../account/account.ts';
import type { ContextKeys } from '../contributions/contexts.ts';
import type { Hosts } from '../account/hosts.ts';
import type { SshQuestions } from '../account/sshQuestions.ts';
import type { JobEventDocuments } from '../jobs/log/jobEvents.ts';
import type { JobFileSystem } from '../jobs/jobFileSystem.ts';
import type { JobLog } from '../jobs/log/jobLog.ts';
import type { LogDocuments } from '../jobs/log/logDocuments.ts';
import type { JobPages } from '../jobs/page/jobPages.ts';
import type { JobStore } from '../jobs/store/jobStore.ts';
import type { ListOptions } from '../jobs/store/listOptions.ts';
import type { LostContacts } from '../jobs/store/lostContacts.ts';
import type { Browsed } from '../results/resultDocuments.ts';
import type { ResultsView } from '../results/resultsView.ts';
import type { SubmittedDocuments } from '../jobs/submittedDocuments.ts';
import type { SourceLines } from '../failures/sourceLines.ts';
import type { Keys } from '../account/keys.ts';
import type { SignIns } from '../account/signIns.ts';
import type { FilesView } from '../submit/preflight/filesView.ts';
import type { SweepPages } from '../sweeps/sweepPages.ts';
import type { SweepRuns } from '../sweeps/sweepRuns.ts';
import type { WatchedJobs } from '../jobs/store/watchedJobs.ts';
import type { SubmitMemory } from '../submit/preflight/submitMemory.ts';

/** What the commands use. */
export interface Services {
  readonly log: Logger;
  readonly output: vscode.LogOutputChannel;
  /** FARWHARF_HOME. */
  readonly home: string;
  /** The folder with the built program. */
  readonly dist: string;
  readonly questions: SshQuestions;
  /** Aborts when the window closes. */
  readonly signal: AbortSignal;
  readonly archiver: Archiver;
  readonly selections: RemoteService<{ selections: Selections }>['selections'];
  readonly journals: { recover(): Promise<readonly RecoveredDownload[]> };
  readonly results: RemoteService<{ results: ResultCounter }>['results'];
  readonly ledger: AsyncLedger;
  readonly contexts: ContextKeys;
  readonly keys: Keys;
  readonly signIns: SignIns;
  /** Keys of language models. */
  readonly modelKeys: Keys;
  readonly hosts: Hosts;
  readonly account: AccountMonitor;
  readonly store: JobStore;
  readonly lostContacts: LostContacts;
  readonly listOptions: ListOptions;
  readonly watched: WatchedJobs;
  /** Fired when this window has changed a budget. */
  readonly budgetsChanged: Emitter<void>;
  readonly jobLog: JobLog;
  /** Of the logs that are shown. */
  readonly colouredLines: ColouredLines;
  readonly sourceLines: SourceLines;
  readonly submitted: RemoteService<{ submitted: SubmittedFiles }>['submitted'];
  readonly failures: { readonly details: ReadDetails };
  readonly submittedDocuments: SubmittedDocuments;
  /** The results of jobs in the cache. */
  readonly browsed: Browsed;
  readonly resultDocuments: JobFileSystem;
  readonly resultsView: ResultsView;
  readonly events: JobEventDocuments;
  readonly logDocuments: LogDocuments;
  readonly pages: JobPages;
  readonly sweeps: SweepRuns;
  readonly sweepPages: SweepPages;
  readonly memory: SubmitMemory;
  readonly wasSubmittedHere: (id: string) => boolean;
  /** The submits that windows are packing. */
  readonly submits: StartedSubmits;
  /** The tree of the files of a submit. */
  readonly files: FilesView;
  readonly flowRuntime: FlowRuntime;
}
