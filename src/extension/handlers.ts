import * as vscode from 'vscode';
import { isActive, isOver } from '../jobs/ledger/record.ts';
import type { CommandHandlers } from './contributions/commands.ts';
import { cancelJob, removeJob, withJob } from './jobList/jobCommands.ts';
import type { FlowCommandId, SearchCommandId } from './contributions/names.ts';
import { submitAgain } from './submit/resubmit.ts';
import { download } from './results/results.ts';
import type { Services } from './services/services.ts';
import { selectHost, signIn, signOut } from './services/signIn.ts';
import { submit } from './submit/submit.ts';

const everyJob = (): boolean => true;

/** What each command of jobs does. Their results are for keybindings, tasks and other extensions. */
export function createHandlers(
  services: Services,
  globalState: vscode.Memento,
): Omit<CommandHandlers, SearchCommandId | FlowCommandId> {
  return {
    'farwharf.submitWorkspace': (argument) => submit(services, withoutFile(argument)),
    'farwharf.submitFile': (argument) => submit(services, argument ?? vscode.window.activeTextEditor?.document.uri),
    'farwharf.showLog': (argument) =>
      withJob(services, argument, { title: 'Show Log', fits: everyJob }, (record) =>
        services.jobLog.show(record, { reveal: true }),
      ),
    'farwharf.showEvents': (argument) =>
      withJob(services, argument, { title: 'Show Events', fits: everyJob }, (record) => services.events.show(record)),
    'farwharf.cancelJob': (argument) =>
      withJob(services, argument, { title: 'Cancel Job', fits: isActive }, (record) => cancelJob(services, record)),
    'farwharf.downloadResults': (argument) =>
      withJob(services, argument, { title: 'Download Results', fits: isOver }, (record) =>
        download(services, record, { keepBoth: isKeepBoth(argument) }),
      ),
    'farwharf.resubmitJob': (argument) =>
      withJob(services, argument, { title: 'Submit Again', fits: everyJob }, (record) => submitAgain(services, record)),
    'farwharf.copyJobId': (argument) =>
      withJob(services, argument, { title: 'Copy Job ID', fits: ({ jobId }) => jobId !== null }, ({ id, jobId }) =>
        vscode.env.clipboard.writeText(jobId ?? id),
      ),
    'farwharf.removeJob': (argument) =>
      withJob(services, argument, { title: 'Remove from List', fits: (record) => !isActive(record) }, (record) =>
        removeJob(services, record),
      ),
    'farwharf.showMoreJobs': () => services.store.showMore(),
    'farwharf.refreshJobs': async () => {
      await services.store.refresh();
      await services.account.refresh(services.signal);
    },
    'farwharf.selectHost': () => selectHost(services, globalState),
    'farwharf.signIn': () => signIn(services, services.hosts.current()),
    'farwharf.signOut': () => signOut(services),
    'farwharf.openSettings': () =>
      vscode.commands.executeCommand('workbench.action.openSettings', '@ext:farwharf.farwharf'),
    'farwharf.openLog': () => services.output.show(true),
  };
}

/** From a menu the command gets the resource under the pointer, which names the folder but not the script. */
function withoutFile(argument: unknown): unknown {
  if (!(argument instanceof vscode.Uri)) return argument;
  const folder = vscode.workspace.getWorkspaceFolder(argument);
  return folder === undefined ? undefined : { folder: folder.uri.fsPath };
}

function isKeepBoth(argument: unknown): boolean {
  return typeof argument === 'object' && argument !== null && 'keepBoth' in argument && argument.keepBoth === true;
}
