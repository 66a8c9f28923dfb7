import { join } from 'node:path';
import * as vscode from 'vscode';
import { isAbort } from '../core/errors.ts';
import { formatDuration } from '../core/text/format.ts';
import { farwharfHome } from '../core/files/home.ts';
import { DisposableStore } from '../core/processes/lifetime.ts';
import { createLogger, type Logger } from '../core/log.ts';
import { Redactor } from '../core/redact.ts';
import { describeRecovered } from '../jobs/results/resultJournals.ts';
import { connectEmbeddedService } from '../service/embedded.ts';
import { AccountMonitor } from './connection/account.ts';
import { startBackground } from './threads/background.ts';
import type { CommandHandlers } from './contributions/commands.ts';
import { ContextKeys } from './contributions/contexts.ts';
import { tellFailures } from './jobs/failureNotifications.ts';
import { createFlowHandlers } from './flows/flowHandlers.ts';
import { flowRuntime } from './flows/runs/flowRuntime.ts';
import { Flows } from './flows/flows.ts';
import { createHandlers } from './handlers.ts';
import { Hosts } from './connection/hosts.ts';

import { JobEventDocuments } from './jobs/jobEvents.ts';
import { JobFollower } from './jobs/jobFollower.ts';
import { JobLog, LOG_LANGUAGE } from './jobs/jobLog.ts';
import { JobPages } from './jobs/jobPages.ts';
import { JobStore } from './jobs/jobStore.ts';
import { LostContacts } from './jobs/lostContacts.ts';
import { JobTree } from './jobList/jobTree.ts';
import { LogLinks } from './jobs/logLinks.ts';
import { SourceLines } from './jobs/sourceLines.ts';
import { Keys } from './connection/keys.ts';
import { JobTasks } from './tasks/jobTasks.ts';
import { FailureProblems } from './jobs/failureProblems.ts';
import { ProfileEditor } from './profiles/profileEditor.ts';
import { reportError } from './ui/report.ts';
import { Search } from './search/search.ts';
import { announceResults } from './results/resultNotifications.ts';
import { createSearchHandlers } from './search/searchHandlers.ts';
import type { Services } from './services/services.ts';
import type { Shell } from './shell.ts';
import { showStatus } from './status/statusBar.ts';
import { SubmitMemory } from './submit/preflight/submitMemory.ts';
import { connectionText, hostLabel } from './ui/words.ts';
import type { WorkerService } from './threads/worker.ts';
import { keepSettling } from './submit/unanswered.ts';
import { showInStatusBar, showWarning } from './ui/show.ts';
import { label, messageText } from './ui/labels.ts';
import { printableText } from '../core/text/printable.ts';

export interface Features {
  readonly handlers: CommandHandlers;
  readonly tree: Pick<JobTree, 'getChildren' | 'getTreeItem' | 'resolveTreeItem'>;
  readonly tasks: JobTasks;
  /** Created on first use. */
  search(): Search;
  /** Created on first use. */
  flows(): Flows;
  report(error: unknown, retry?: () => void): Promise<void>;
}

/** Creates all features and connects them. Each visible part is set up on its own, so that one failure leaves the others working. */
export async function startFeatures(shell: Shell): Promise<Features> {
  const disposables = new DisposableStore();
  shell.context.subscriptions.push(disposables);
  const services = createServices(shell, disposables);
  const { account, contexts, hosts, jobLog, log, signal, store } = services;
  const isTrusted = (): boolean => vscode.workspace.isTrusted;
  const tree = disposables.add(new JobTree(services, { view: shell.jobsView, changed: shell.jobsChanged }));
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
    disposables.add(store.onDidChange(() => contexts.set('hasJobs', store.records.length > 0)));
  });
  setUp('status bar', () => void disposables.add(showStatus(shell.status, services)));
  setUp('account', () => {
    disposables.add(hosts.onDidChange(() => run('account', account.refresh(signal))));
    // An empty view shows its welcome text instead.
    const tell = (): void => {
      const host = hosts.currentIfUsable();
      const hasRows = store.records.length > 0;
      const text = host === undefined || !hasRows ? undefined : connectionText(account.state, host);
      shell.jobsView.message = text === undefined ? undefined : messageText(text);
    };
    disposables.add(account.onDidChange(tell));
    disposables.add(store.onDidChange(tell));
    run(
      'account',
      account.keepFresh(() => vscode.window.state.focused, signal),
    );
  });
  setUp('jobs', () => {
    disposables.add(
      store.onDidChange(({ counted }) => {
        if (counted.length > 0) run('results', announceResults(counted, services));
      }),
    );
    disposables.add(
      store.onDidChange(({ ended }) => {
        if (ended.length === 0) return;
        run('failures', tellFailures(ended, services));
        // A job that has just ended proves that its service is running, so a reloaded window shows the final price too.
        run('account', account.refresh(signal, { isUp: true }));
      }),
    );
    disposables.add(vscode.workspace.onDidGrantWorkspaceTrust(() => follower.update()));
    run(
      'jobs',
      services.ledger.settleAbandoned().then(() => {
        run('unanswered', keepSettling(services, signal));
        return store.keepFresh(signal);
      }),
    );
    run('durations', tree.keepTime(signal));
  });
  setUp('interrupted results', () => {
    const tell = async (): Promise<void> => {
      for (const recovered of await services.journals.recover()) void showWarning(describeRecovered(recovered));
    };
    run('interrupted results', tell());
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
    const links = new LogLinks(jobLog, services.sourceLines);
    disposables.add(vscode.languages.registerDocumentLinkProvider({ language: LOG_LANGUAGE }, links));
  });
  setUp('problems', () => void disposables.add(new FailureProblems(services)));
  setUp('profiles', () => void disposables.add(new ProfileEditor(services)));
  const report = (error: unknown): void => void reportError(log, error);
  let search: Search | undefined;
  const getSearch = (): Search => {
    const { context, indexView, indexChanged } = shell;
    search ??= disposables.add(new Search({ ...services, context, indexView, indexChanged, report }));
    return search;
  };
  let flows: Flows | undefined;
  const getFlows = (): Flows => {
    flows ??= disposables.add(new Flows({ context: shell.context, services, report }));
    return flows;
  };
  return {
    handlers: {
      ...createHandlers(services, shell.context.globalState),
      ...createSearchHandlers(getSearch),
      ...createFlowHandlers(getFlows),
    },
    tree,
    tasks: new JobTasks(services),
    search: getSearch,
    flows: getFlows,
    report: (error, retry) => reportError(log, error, retry),
  };
}

function createServices({ context, output }: Shell, disposables: DisposableStore): Services {
  const end = new AbortController();
  disposables.add({ dispose: () => end.abort() });
  const home = farwharfHome();
  const redactor = new Redactor();
  const log = logTo(output, redactor);
  const background = startBackground<WorkerService>({
    program: context.asAbsolutePath(join('dist', 'worker.js')),
    name: 'farwharf',
    data: { home },
    log,
    lost: 'A background thread of Farwharf stopped, so nothing was sent. Try again.',
  });
  disposables.add({ dispose: () => void background.end() });
  const { archiver, journals, ledger, results, selections, sources } = background.service;
  const keys = new Keys(context.secrets, redactor, 'key');
  const modelKeys = new Keys(context.secrets, redactor, 'modelKey');
  const contexts = new ContextKeys();
  const hosts = disposables.add(
    new Hosts({
      keys,
      isTrusted: () => vscode.workspace.isTrusted,
      connectLocal: () =>
        connectEmbeddedService({
          home,
          node: process.execPath,
          cli: context.asAbsolutePath(join('dist', 'cli.mjs')),
          // On a desktop the extension host is Electron's Node.js; elsewhere the variable has no effect.
          env: { ...process.env, ELECTRON_RUN_AS_NODE: '1' },
          signal: end.signal,
        }),
      onWait(host, seconds, reason) {
        log.warn('a service asked to wait', { host, seconds, reason });
        showInStatusBar(
          label`$(watch) ${hostLabel(host)} asked to wait ${formatDuration(seconds)}: ${reason}`,
          seconds * 1_000,
        );
      },
    }),
  );
  const account = new AccountMonitor({ hosts, memory: context.globalState, contexts, log });
  const store = new JobStore(ledger);
  const jobLog = disposables.add(new JobLog({ home, results, memory: context.workspaceState, log }));
  const events = disposables.add(new JobEventDocuments(home, store));
  const pages = disposables.add(new JobPages({ home, store, hosts, log, extension: context.extensionUri }));
  const memory = new SubmitMemory(context.workspaceState);
  return {
    log,
    output,
    home,
    signal: end.signal,
    archiver,
    selections,
    journals,
    results,
    ledger,
    contexts,
    keys,
    modelKeys,
    hosts,
    account,
    store,
    lostContacts: new LostContacts(),
    jobLog,
    sourceLines: new SourceLines(sources),
    events,
    pages,
    memory,
    flowRuntime: flowRuntime(context),
  };
}

function logTo(output: vscode.LogOutputChannel, redactor: Redactor): Logger {
  return createLogger((level, line) => output[level](printableText(line)), redactor);
}
