import * as vscode from 'vscode';
import * as z from 'zod';
import { isActive, isOver, type JobRecord } from '../jobs/ledger/record.ts';
import type { CommandHandlers } from './contributions/commands.ts';
import { cancelJob, canRemove, hostOfJob, removeJob, withJob } from './jobList/jobCommands.ts';
import type { FlowCommandId, SearchCommandId } from './contributions/names.ts';
import { submitAgain } from './submit/resubmit.ts';
import { compareSubmitted } from './submitted/compareSubmitted.ts';
import { download } from './results/results.ts';
import type { Services } from './services/services.ts';
import { selectHost, signIn, signOut } from './services/signIn.ts';
import { submit, submitProfile } from './submit/submit.ts';

/** What each command of jobs does. Their results are for keybindings, tasks and other extensions. */
export function createHandlers(
  services: Services,
  globalState: vscode.Memento,
): Omit<CommandHandlers, SearchCommandId | FlowCommandId> {
  /** A command on one job: the one that the argument names, or that the user picks among those that `fits` allows. */
  const jobCommand =
    (title: string, fits: (record: JobRecord) => boolean, run: (record: JobRecord, argument: unknown) => unknown) =>
    (argument: unknown) =>
      withJob(services, argument, { title, fits }, (record) => run(record, argument));
  const always = (): boolean => true;
  return {
    'farwharf.submitWorkspace': (argument) => submit(services, withoutFile(argument)),
    'farwharf.submitFile': (argument) => submit(services, argument ?? vscode.window.activeTextEditor?.document.uri),
    'farwharf.submitProfile': (argument) => submitProfile(services, argument),
    'farwharf.showLog': jobCommand('Show Log', always, (record) => services.jobLog.show(record, { reveal: true })),
    'farwharf.showJobPage': jobCommand('Show Job Page', always, (record) => services.pages.show(record)),
    'farwharf.compareSubmitted': jobCommand('Compare Submitted Files', always, (record) =>
      compareSubmitted(services, record),
    ),
    'farwharf.showEvents': jobCommand('Show Events', always, (record) => services.events.show(record)),
    'farwharf.cancelJob': jobCommand('Cancel Job', isActive, (record) => cancelJob(services, record)),
    'farwharf.downloadResults': jobCommand('Download Results', isOver, (record, argument) =>
      download(services, record, { keepBoth: keepBothArgument.safeParse(argument).success }),
    ),
    'farwharf.resubmitJob': jobCommand('Submit Again', always, (record) => submitAgain(services, record)),
    'farwharf.copyJobId': jobCommand(
      'Copy Job ID',
      ({ jobId }) => jobId !== null,
      ({ id, jobId }) => vscode.env.clipboard.writeText(jobId ?? id),
    ),
    'farwharf.removeJob': jobCommand(
      'Remove from List',
      (record) => canRemove(services, record),
      (record) => removeJob(services, record),
    ),
    'farwharf.showMoreJobs': () => services.store.showMore(),
    'farwharf.refreshJobs': async () => {
      await services.store.refresh();
      await services.account.refresh(services.signal);
    },
    'farwharf.selectHost': () => selectHost(services, globalState),
    'farwharf.signIn': (argument) => signIn(services, hostOfJob(services, argument) ?? services.hosts.current()),
    'farwharf.signOut': () => signOut(services),
    'farwharf.openSettings': () =>
      vscode.commands.executeCommand('workbench.action.openSettings', '@ext:farwharf.farwharf'),
    'farwharf.openLog': () => services.output.show(true),
  };
}

const keepBothArgument = z.object({ keepBoth: z.literal(true) });

/** A menu passes the resource under the pointer, which names the folder but not the script. */
function withoutFile(argument: unknown): unknown {
  if (!(argument instanceof vscode.Uri)) return argument;
  const folder = vscode.workspace.getWorkspaceFolder(argument);
  return folder === undefined ? undefined : { folder: folder.uri.fsPath };
}
