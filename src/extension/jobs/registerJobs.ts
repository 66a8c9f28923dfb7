import * as vscode from 'vscode';
import type { WindowParts } from '../contributions/parts.ts';
import { hasLedger, readChangeMark } from '../../jobs/ledger/changeMark.ts';
import { isFiltering } from '../../jobs/ledger/jobFilter.ts';
import { ColouredLines } from '../../jobs/log/colouredLines.ts';
import type { AccountMonitor } from '../account/account.ts';
import type { Hosts } from '../account/hosts.ts';
import type { Commands } from '../contributions/commands.ts';
import type { Worker } from '../threads/worker.ts';
import { askModal, showInformation } from '../ui/show.ts';
import { sampleFolders } from '../workspace/folderTour.ts';
import { guardCosts } from './costGuard.ts';
import { EndHooks } from './endHooks.ts';
import { JobFollower } from './jobFollower.ts';
import type { JobFinder } from './list/jobCommand.ts';
import { JobTree, type JobTreeShell } from './list/jobTree.ts';
import { showListState } from './list/listState.ts';
import { JobEventDocuments } from './log/jobEvents.ts';
import { JobLog, LOG_LANGUAGE } from './log/jobLog.ts';
import { LogColours } from './log/logColours.ts';
import { LOG_SCHEME, LogDocuments } from './log/logDocuments.ts';
import { logFolding, logLenses } from './log/logLenses.ts';
import { LogLinks } from './log/logLinks.ts';
import { SourceLines } from './log/sourceLines.ts';
import { openJobLink } from './openJobLink.ts';
import { JobPages } from './jobPages.ts';
import { notifyQuestions } from './questionNotifications.ts';
import { JobStore } from './store/jobStore.ts';
import { ListOptions } from './store/listOptions.ts';
import { LostContacts } from './store/lostContacts.ts';
import { isWorthNotifying, WatchedJobs } from './store/watchedJobs.ts';
import { SubmittedDocuments } from './submittedDocuments.ts';

interface JobInputs
  extends Pick<
    WindowParts,
    'context' | 'contexts' | 'home' | 'ledger' | 'log' | 'parts' | 'signal' | 'wasSubmittedHere'
  > {
  readonly account: AccountMonitor;
  readonly hosts: Hosts;
  /** Whether the worker thread runs. Without jobs, it need not start. */
  readonly isWorkerRunning: () => boolean;
  /** The Jobs view. */
  readonly shown: JobTreeShell;
  readonly worker: Pick<Worker, 'browsed' | 'results' | 'sources' | 'submitted'>;
}

interface JobFeature extends JobFinder {
  readonly store: JobStore;
  readonly lostContacts: LostContacts;
  readonly watched: WatchedJobs;
  readonly jobLog: JobLog;
  readonly logDocuments: LogDocuments;
  readonly sourceLines: SourceLines;
  readonly tree: JobTree;
  /** Resolves once there may be jobs, and those are settled whose process ended while it sent them. */
  readonly whenUsed: Promise<void>;
  readonly commands: () => Promise<Commands<'jobs'>>;
  /** Opens a link to a job. */
  readonly openLink: (uri: vscode.Uri) => Promise<void>;
}

/** The jobs that this window knows: their list, logs and pages, and what happens when one ends. */
export function registerJobs(inputs: JobInputs): JobFeature {
  const { account, context, contexts, home, hosts, ledger, log, parts, shown, signal, wasSubmittedHere, worker } =
    inputs;
  const { extensionUri: extension, workspaceState: memory } = context;
  const { executeCommand: run } = vscode.commands;
  const isTrusted = (): boolean => vscode.workspace.isTrusted;

  const store = new JobStore(ledger, {
    isResting: () => !inputs.isWorkerRunning(),
    readMark: () => readChangeMark(home),
    hasLedger: () => hasLedger(home),
  });
  const lostContacts = new LostContacts();
  const watched = new WatchedJobs(memory);
  const listOptions = new ListOptions(memory);
  const colouredLines = new ColouredLines();
  const sourceLines = new SourceLines(home, worker.sources);
  const jobLog = parts.add(new JobLog({ home, colouredLines, results: worker.results, memory, watched, log }));
  const logDocuments = parts.add(new LogDocuments(home, store, colouredLines));
  const events = parts.add(new JobEventDocuments(home, store));
  const submittedDocuments = parts.add(new SubmittedDocuments(worker.submitted, ledger));
  const pages = parts.add(
    new JobPages({
      home,
      store,
      lostContacts,
      hosts,
      log,
      extension,
      browsed: worker.browsed,
      sourceLines,
      run: (action, { id }) => void run(`farwharf.${action}`, { id }),
    }),
  );
  const tree = parts.add(new JobTree({ store, lostContacts, listOptions }, shown));
  const follower = parts.add(
    new JobFollower({ hosts, ledger, results: worker.results, store, lostContacts, home, log, isTrusted }),
  );

  parts.setUp('contexts', () => {
    contexts.set('hasJobs', false);
    return store.onDidChange(() => {
      const samples = sampleFolders(context.globalState);
      contexts.set('hasJobs', store.records.length > 0);
      contexts.set(
        'hasOwnResults',
        store.records.some(({ downloadedAt, folder }) => downloadedAt !== null && !samples.includes(folder)),
      );
    });
  });
  parts.setUp('list', () => {
    const filter = (): void => parts.run('filter', store.setFilter(listOptions.filter));
    if (isFiltering(listOptions.filter)) filter();
    parts.add(listOptions.onDidChange(filter));
    return showListState(shown.view, { account, contexts, hosts, listOptions, store });
  });
  const openSettings = (): void => void run('workbench.action.openSettings', 'farwharf.onEnd');
  const endHooks = new EndHooks({ ledger, log, signal, openSettings });
  parts.setUp('jobs', () => {
    parts.add(
      store.onDidChange(({ ended }) => {
        if (ended.length === 0) return;
        parts.run('questions', notifyQuestions(ended, { wasSubmittedHere, show: showInformation, run }));
        parts.run('end', endHooks.run(ended.filter((record) => isWorthNotifying(record, watched))));
        // A job that has just ended proves that its service is running, so a reloaded window shows the final price too.
        parts.run('account', account.refresh(signal, { isUp: true }));
      }),
    );
    parts.add(
      lostContacts.onDidChange((id) => {
        // The status bar and the view offer to sign in too, and say at once that a service responds again.
        const lost = lostContacts.get(id);
        const isNews = lost === undefined ? account.state === 'unreachable' : lost.reason !== 'unreachable';
        if (isNews) parts.run('account', account.refresh(signal));
      }),
    );
    parts.run('durations', tree.keepTime(signal));
    return vscode.workspace.onDidGrantWorkspaceTrust(() => follower.update());
  });
  const start = async (): Promise<void> => {
    await store.untilUsed(signal);
    await ledger.settleAbandoned();
  };
  const whenUsed = start();
  parts.run(
    'jobs',
    whenUsed.then(() => store.keepFresh(signal)),
  );
  parts.run('costs', guardCosts({ account, home, hosts, ledger, log, store, wasSubmittedHere }, signal));
  parts.setUp('log', () => {
    const attach = store.onDidChange(() => {
      attach.dispose();
      const last = jobLog.lastShown === undefined ? undefined : store.get(jobLog.lastShown);
      if (last) jobLog.show(last, { reveal: false });
    });
    return attach;
  });
  parts.setUp('log links', () => {
    const links = new LogLinks(({ uri }) => logDocuments.recordOf(uri) ?? jobLog.shown, sourceLines);
    return vscode.Disposable.from(
      new LogColours(colouredLines, LOG_LANGUAGE),
      vscode.languages.registerDocumentLinkProvider({ language: LOG_LANGUAGE }, links),
      vscode.languages.registerCodeLensProvider({ scheme: LOG_SCHEME }, logLenses(logDocuments)),
      vscode.languages.registerFoldingRangeProvider({ language: LOG_LANGUAGE }, logFolding),
    );
  });

  const finder = { ledger, lostContacts, store, keyRows: () => keyRows(shown.view) };
  return {
    ...finder,
    watched,
    jobLog,
    logDocuments,
    sourceLines,
    tree,
    whenUsed,
    commands: async () =>
      (await import('./jobCommands.ts')).jobCommands({
        ...finder,
        account,
        events,
        follow: (record) => follower.follow(record),
        hosts,
        jobLog,
        listOptions,
        log,
        logDocuments,
        pages,
        signal,
        submitted: worker.submitted,
        submittedDocuments,
        tree,
      }),
    openLink: (uri) => openJobLink({ ledger, hosts, ask: askModal, run }, uri),
  };
}

/**
 * The rows of a tree that a key concerns, as in the Explorer: those that are selected, or only the one with the focus if it is not among
 * them. Arrow keys move the focus without selecting, and VS Code reports only what is selected, so this selects the focused row for a moment.
 */
async function keyRows<T>(view: Pick<vscode.TreeView<T>, 'selection'>): Promise<readonly T[]> {
  const before = view.selection;
  await vscode.commands.executeCommand('list.toggleSelection');
  const focused = view.selection.filter((row) => !before.includes(row));
  await vscode.commands.executeCommand('list.toggleSelection');
  return focused.length > 0 ? focused : before;
}
