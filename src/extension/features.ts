import * as vscode from 'vscode';
import { isAbort } from '../core/errors.ts';
import { type Disposable, DisposableStore } from '../core/processes/lifetime.ts';
import { describeRecovered, hasResultJournals } from '../jobs/results/resultJournals.ts';
import { isFiltering } from '../jobs/ledger/jobFilter.ts';
import type { JobRecord } from '../jobs/ledger/record.ts';
import type { CommandContext } from './commands/command.ts';
import type { CommandId } from './contributions/names.ts';
import { guardCosts } from './jobs/costGuard.ts';
import { keyRows } from './jobs/list/keyRows.ts';
import { EndHooks } from './jobs/endHooks.ts';
import { isWorthNotifying, notifyFailures } from './failures/failureNotifications.ts';
import { notifyQuestions } from './jobs/questionNotifications.ts';
import { FailureDocuments } from './failures/failureDocuments.ts';
import { AgentTools } from './agents/agentTools.ts';
import { Flows } from './flows/flows.ts';
import { createServices } from './createServices.ts';
import { JobFollower } from './jobs/jobFollower.ts';
import { LOG_LANGUAGE } from './jobs/log/jobLog.ts';
import { JobTree } from './jobs/list/jobTree.ts';
import { showListState } from './jobs/list/listState.ts';
import { openJobLink } from './jobs/openJobLink.ts';
import { LOG_SCHEME } from './jobs/log/logDocuments.ts';
import { LogColours } from './jobs/log/logColours.ts';
import { logLenses, logFolding } from './jobs/log/logLenses.ts';
import { LogLinks } from './jobs/log/logLinks.ts';
import { JobTasks } from './tasks/jobTasks.ts';
import { FailureProblems } from './failures/failureProblems.ts';
import { ProfileEditor } from './submit/profileEditor.ts';
import { reportError } from './ui/report.ts';
import { Search } from './search/search.ts';
import { announceResults } from './results/resultNotifications.ts';
import { registerAuthenticationProvider } from './account/authenticationProvider.ts';
import type { Shell } from './shell.ts';
import { showStatus } from './status/statusBar.ts';
import { reportInterrupted, reportNotArrived } from './submit/interrupted.ts';
import { keepSettling } from './submit/unanswered.ts';
import { askModal, showInformation, showWarning } from './ui/show.ts';
import { diskFolders } from './workspace/folders.ts';
import { sampleFolders } from './workspace/folderTour.ts';

export interface Features {
  /** The code of the commands is loaded on first use. */
  readonly runCommand: (id: CommandId, argument: unknown, selected: unknown) => Promise<unknown>;
  readonly tree: Pick<JobTree, 'getChildren' | 'getParent' | 'getTreeItem' | 'resolveTreeItem'>;
  readonly tasks: JobTasks;
  /** Created on first use. */
  agentTools(): AgentTools;
  /** Created on first use. */
  search(): Search;
  /** Created on first use. */
  flows(): Flows;
  /** Opens a link that leads to this extension. */
  openLink(uri: vscode.Uri): Promise<void>;
  report(error: unknown, retry?: () => void): Promise<void>;
}

/** Creates all features and connects them. Each visible part is set up on its own, so that one failure leaves the others working. */
export async function startFeatures(shell: Shell): Promise<Features> {
  const disposables = new DisposableStore();
  shell.context.subscriptions.push(disposables);
  const services = createServices(shell, disposables);
  const { account, contexts, hosts, jobLog, listOptions, log, lostContacts, signal, store } = services;
  const isTrusted = (): boolean => vscode.workspace.isTrusted;
  const { jobsView } = shell;
  const tree = disposables.add(new JobTree(services, { view: jobsView, changed: shell.jobsChanged }));
  const follower = disposables.add(new JobFollower({ ...services, isTrusted }));

  const setUp = (name: string, build: () => void): void => {
    const started = performance.now();
    try {
      build();
      log.debug('feature ready', { name, ms: Math.round(performance.now() - started) });
    } catch (error) {
      log.error('feature failed', { name, error });
    }
  };
  const run = (name: string, work: Promise<unknown>): void => {
    work.catch((error: unknown) => {
      if (!isAbort(error)) log.error('background work failed', { name, error });
    });
  };

  setUp('contexts', () => {
    contexts.set('hasJobs', false);
    disposables.add(
      store.onDidChange(() => {
        const { records } = store;
        const samples = sampleFolders(shell.context.globalState);
        contexts.set('hasJobs', records.length > 0);
        contexts.set(
          'hasOwnResults',
          records.some(({ downloadedAt, folder }) => downloadedAt !== null && !samples.includes(folder)),
        );
      }),
    );
  });
  setUp('status bar', () => void disposables.add(showStatus(shell.status, services)));
  setUp('account', () => {
    disposables.add(hosts.onDidChange(() => run('account', account.refresh(signal))));
    disposables.add(showListState(jobsView, services));
    disposables.add(registerAuthenticationProvider({ ...services, globalState: shell.context.globalState }));
    run(
      'account',
      account.keepFresh(() => vscode.window.state.focused, signal),
    );
  });
  setUp('list', () => {
    const filter = (): void => run('filter', store.setFilter(listOptions.filter));
    if (isFiltering(listOptions.filter)) filter();
    disposables.add(listOptions.onDidChange(filter));
  });
  const openSettings = (): void =>
    void vscode.commands.executeCommand('workbench.action.openSettings', 'farwharf.onEnd');
  const runOwn = vscode.commands.executeCommand;
  const folders = (): readonly string[] => diskFolders().map(({ uri }) => uri.fsPath);
  const offering = { folders, show: showWarning, run: runOwn };
  const endHooks = new EndHooks({ ...services, openSettings });
  setUp('jobs', () => {
    disposables.add(
      store.onDidChange(({ counted, ended }) => {
        if (counted.length > 0) run('results', announceResults(counted, services));
        if (ended.length === 0) return;
        run('failures', notifyFailures(ended, services));
        run('questions', notifyQuestions(ended, { ...services, show: showInformation, run: runOwn }));
        run('end', endHooks.run(ended.filter((record) => isWorthNotifying(record, services.watched))));
        // A job that has just ended proves that its service is running, so a reloaded window shows the final price too.
        run('account', account.refresh(signal, { isUp: true }));
      }),
    );
    disposables.add(
      lostContacts.onDidChange((id) => {
        // The status bar and the view offer to sign in too, and say at once that a service responds again.
        const lost = lostContacts.get(id);
        const isNews = lost === undefined ? account.state === 'unreachable' : lost.reason !== 'unreachable';
        if (isNews) run('account', account.refresh(signal));
      }),
    );
    disposables.add(vscode.workspace.onDidGrantWorkspaceTrust(() => follower.update()));
    const followJobs = async (): Promise<void> => {
      await store.untilUsed(signal);
      await services.ledger.settleAbandoned();
      const onNotArrived = (record: JobRecord): void => run('unanswered', reportNotArrived(record, offering));
      const settling = { ...services, mayBeUnanswered: () => store.hasUnanswered, onNotArrived };
      run('unanswered', keepSettling(settling, signal));
      await store.keepFresh(signal);
    };
    run('jobs', followJobs());
    run('durations', tree.keepTime(signal));
  });
  setUp('costs', () => run('costs', guardCosts(services, signal)));
  setUp('sweeps', () => {
    if (isTrusted()) run('sweeps', services.sweeps.continueInterrupted());
  });
  setUp('interrupted results', () => {
    const recover = async (): Promise<void> => {
      if (!(await hasResultJournals(services.home))) return; // so that the thread does not start
      for (const recovered of await services.journals.recover()) void showWarning(describeRecovered(recovered));
    };
    run('interrupted results', recover());
  });
  setUp('interrupted submits', () => {
    run('interrupted submits', reportInterrupted({ ...services, ...offering }, signal));
  });
  setUp('log', () => {
    const attach = disposables.add(
      store.onDidChange(() => {
        attach.dispose();
        const last = jobLog.lastShown === undefined ? undefined : store.get(jobLog.lastShown);
        if (last) jobLog.show(last, { reveal: false });
      }),
    );
  });
  setUp('log links', () => {
    const { colouredLines, logDocuments, sourceLines } = services;
    disposables.add(new LogColours(colouredLines, LOG_LANGUAGE));
    const links = new LogLinks(({ uri }) => logDocuments.recordOf(uri) ?? jobLog.shown, sourceLines);
    disposables.add(vscode.languages.registerDocumentLinkProvider({ language: LOG_LANGUAGE }, links));
    disposables.add(vscode.languages.registerCodeLensProvider({ scheme: LOG_SCHEME }, logLenses(logDocuments)));
    disposables.add(vscode.languages.registerFoldingRangeProvider({ language: LOG_LANGUAGE }, logFolding));
  });
  setUp('problems', () => void disposables.add(new FailureProblems(services)));
  setUp('profiles', () => void disposables.add(new ProfileEditor(services)));
  const report = (error: unknown): void => void reportError(log, error);
  const onFirstUse = <T extends Disposable>(create: () => T): (() => T) => {
    let created: T | undefined;
    return () => (created ??= disposables.add(create()));
  };
  const { context, indexView, indexChanged } = shell;
  const failures = onFirstUse(() => new FailureDocuments(services));
  const agentTools = onFirstUse(() => new AgentTools({ ...services, context }));
  const search = onFirstUse(() => new Search({ ...services, context, indexView, indexChanged, report }));
  const flows = onFirstUse(() => new Flows({ context, services, report }));
  const { globalState, extensionUri } = context;
  const commandContext: CommandContext = {
    services,
    tree,
    keyRows: () => keyRows(jobsView),
    follow: (record) => follower.follow(record),
    globalState,
    extensionId: context.extension.id,
    extensionUri,
    failures,
    search,
    flows,
  };
  return {
    runCommand: async (id, argument, selected) => {
      const { commands } = await import('./commandTable.ts');
      return commands[id](commandContext, argument, selected);
    },
    tree,
    tasks: new JobTasks(services),
    agentTools,
    search,
    flows,
    openLink: (uri) => openJobLink({ ...services, ask: askModal, run: runOwn }, uri),
    report: (error, retry) => reportError(log, error, retry),
  };
}
