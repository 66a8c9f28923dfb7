import * as vscode from 'vscode';
import { pathInside } from '../../core/files/pathInside.ts';
import type { Hosts } from '../account/hosts.ts';
import type { Commands } from '../contributions/commands.ts';
import type { WindowParts } from '../contributions/parts.ts';
import type { JobTunnels } from '../inside/jobTunnels.ts';
import type { JobFinder } from '../jobs/list/jobCommand.ts';
import type { JobStore } from '../jobs/store/jobStore.ts';
import type { SubmitArguments } from '../submit/submitArguments.ts';
import { showWarning } from '../ui/show.ts';
import { diskFolders } from '../workspace/folders.ts';
import { FrozenNotifications } from './frozenNotifications.ts';
import type { JobDebugging } from './jobDebugging.ts';

interface DebugInputs extends Pick<WindowParts, 'ledger' | 'parts' | 'report' | 'signal' | 'worker'> {
  readonly hosts: Hosts;
  readonly jobs: JobFinder & { readonly store: JobStore };
  readonly submit: (asked: SubmitArguments) => Promise<string | undefined>;
  readonly tunnels: JobTunnels;
}

export interface DebugFeature {
  readonly commands: () => Promise<Commands<'debug'>>;
  /** Created on first use. */
  readonly debugging: () => Promise<JobDebugging>;
}

/** Debugs jobs, and offers those that wait for a debugger. */
export function registerDebugging({
  hosts,
  jobs,
  ledger,
  parts,
  report,
  signal,
  submit,
  tunnels,
  worker,
}: DebugInputs): DebugFeature {
  const { store } = jobs;
  let created: Promise<JobDebugging> | undefined;
  let current: JobDebugging | undefined;
  const debugging = (): Promise<JobDebugging> => {
    created ??= import('./jobDebugging.ts').then(({ JobDebugging }) => {
      current = parts.add(new JobDebugging({ finder: jobs, report, signal, store, submit, tunnels, worker }));
      return current;
    });
    return created;
  };
  const isOfThisWindow = (folder: string): boolean =>
    diskFolders().some(({ uri }) => pathInside(uri.fsPath, folder) !== undefined || uri.fsPath === folder);
  const notifications = new FrozenNotifications({
    isShownElsewhere: ({ id, folder }) => current?.isDebugging(id) === true || !isOfThisWindow(folder),
    show: showWarning,
    run: vscode.commands.executeCommand,
  });
  parts.setUp('debugging', () => store.onDidChange(() => parts.run('debugging', notifications.offer(store.records))));
  return {
    commands: async () =>
      (await import('./debugCommands.ts')).debugCommands({ debugging: await debugging(), hosts, jobs, ledger }),
    debugging,
  };
}
