import type * as vscode from 'vscode';
import type { Logger } from '../core/log.ts';
import type { FlowRuntime } from '../flows/run/flowRun.ts';
import type { Archiver } from '../jobs/archiver.ts';
import type { RecoveredDownload } from '../jobs/resultJournals.ts';
import type { AsyncLedger } from '../jobs/asyncLedger.ts';
import type { AccountMonitor } from './account.ts';
import type { ContextKeys } from './contexts.ts';
import type { Hosts } from './hosts.ts';
import type { JobEventDocuments } from './jobEvents.ts';
import type { JobLog } from './jobLog.ts';
import type { JobStore } from './jobStore.ts';
import type { Keys } from './keys.ts';
import type { SubmitMemory } from './submitMemory.ts';

/** What the commands work with. */
export interface Services {
  readonly log: Logger;
  readonly output: vscode.LogOutputChannel;
  /** FARWHARF_HOME. */
  readonly home: string;
  /** Aborts when the window closes. */
  readonly signal: AbortSignal;
  readonly archiver: Archiver;
  readonly journals: { recover(): Promise<readonly RecoveredDownload[]> };
  readonly ledger: AsyncLedger;
  readonly contexts: ContextKeys;
  readonly keys: Keys;
  /** Keys of language models. */
  readonly modelKeys: Keys;
  readonly hosts: Hosts;
  readonly account: AccountMonitor;
  readonly store: JobStore;
  readonly jobLog: JobLog;
  readonly events: JobEventDocuments;
  readonly memory: SubmitMemory;
  readonly flowRuntime: FlowRuntime;
}
