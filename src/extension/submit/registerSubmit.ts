import * as vscode from 'vscode';
import type { WindowParts } from '../contributions/parts.ts';
import type { FlowRuntime } from '../../flows/run/protocol/runRequest.ts';
import type { JobRecord } from '../../jobs/ledger/record.ts';
import { StartedSubmits } from '../../jobs/submit/startedSubmits.ts';
import type { AccountMonitor } from '../account/account.ts';
import type { Hosts } from '../account/hosts.ts';
import type { Commands } from '../contributions/commands.ts';
import type { JobFinder } from '../jobs/list/jobCommand.ts';
import type { JobLog } from '../jobs/log/jobLog.ts';
import type { JobStore } from '../jobs/store/jobStore.ts';
import type { SweepPages } from '../sweeps/sweepPages.ts';
import type { SweepRuns } from '../sweeps/sweepRuns.ts';
import type { Worker } from '../threads/worker.ts';
import { showWarning } from '../ui/show.ts';
import { diskFolders } from '../workspace/folders.ts';
import { reportInterrupted, reportNotArrived } from './interrupted.ts';
import { FilesView } from './preflight/filesView.ts';
import type { SubmitMemory } from './preflight/submitMemory.ts';
import { ProfileEditor } from './profileEditor.ts';
import { submit } from './submit.ts';
import type { SubmitArguments } from './submitArguments.ts';
import { keepSettling } from './unanswered.ts';

interface SubmitInputs
  extends Pick<WindowParts, 'context' | 'contexts' | 'home' | 'ledger' | 'log' | 'parts' | 'report' | 'signal'> {
  readonly account: AccountMonitor;
  readonly flowRuntime: FlowRuntime;
  readonly hosts: Hosts;
  readonly jobs: JobFinder & {
    readonly jobLog: JobLog;
    readonly store: JobStore;
    /** Resolves once there may be jobs. */
    readonly whenUsed: Promise<void>;
  };
  readonly memory: SubmitMemory;
  readonly sweeps: { readonly pages: SweepPages; readonly runs: SweepRuns };
  readonly worker: Pick<Worker, 'selections'>;
}

type SubmitOptions = NonNullable<Parameters<typeof submit>[2]>;

interface SubmitFeature {
  /** Submits a folder once the user has confirmed it. Returns our ID of the job or of the sweep, or undefined if the user cancelled. */
  readonly submit: (wanted: SubmitArguments, options?: SubmitOptions) => Promise<string | undefined>;
  readonly commands: () => Promise<Commands<'submit'>>;
}

/** Sends folders as jobs, and says which submits did not arrive. */
export function registerSubmit(inputs: SubmitInputs): SubmitFeature {
  const { account, context, contexts, flowRuntime, home, hosts, jobs, ledger, log, memory, parts, signal } = inputs;
  const { store } = jobs;
  const { selections } = inputs.worker;
  const submits = new StartedSubmits(home);
  const deps = {
    account,
    files: parts.add(new FilesView({ selections, contexts, report: inputs.report })),
    flowRuntime,
    home,
    hosts,
    jobLog: jobs.jobLog,
    ledger,
    log,
    memory,
    selections,
    signal,
    store,
    submits,
    sweepPages: inputs.sweeps.pages,
    sweeps: inputs.sweeps.runs,
  };
  const offering = {
    folders: () => diskFolders().map(({ uri }) => uri.fsPath),
    show: showWarning,
    run: vscode.commands.executeCommand,
  };
  parts.run('interrupted submits', reportInterrupted({ submits, ...offering }, signal));
  const onNotArrived = (record: JobRecord): void => parts.run('unanswered', reportNotArrived(record, offering));
  const settling = { hosts, ledger, log, mayBeUnanswered: () => store.hasUnanswered, onNotArrived };
  parts.run(
    'unanswered',
    jobs.whenUsed.then(() => keepSettling(settling, signal)),
  );
  parts.setUp('profiles', () => new ProfileEditor(deps));
  return {
    submit: (wanted, options) => submit(deps, wanted, options),
    commands: async () => (await import('./submitCommands.ts')).submitCommands({ ...deps, context, jobs }),
  };
}
