import { join } from 'node:path';
import * as vscode from 'vscode';
import * as l10n from '@vscode/l10n';
import { formatDuration } from '../core/text/format.ts';
import { farwharfHome } from '../core/files/home.ts';
import { type DisposableStore, Emitter } from '../core/processes/lifetime.ts';
import { createLogger, type Logger } from '../core/log.ts';
import { Redactor } from '../core/redact.ts';
import { startThread } from '../core/rpc/rpcProgram.ts';
import { openMachine } from '../machines/openMachine.ts';
import { hasLedger, readChangeMark } from '../jobs/ledger/changeMark.ts';
import { StartedSubmits } from '../jobs/submit/startedSubmits.ts';
import { ColouredLines } from '../jobs/logView/colouredLines.ts';
import { connectEmbeddedService } from '../service/embedded.ts';
import { AccountMonitor } from './account/account.ts';
import { startBackground, THREAD_IDLE_MS } from './threads/background.ts';
import { ContextKeys } from './contributions/contexts.ts';
import { flowRuntime } from './flows/runs/flowRuntime.ts';
import { Hosts } from './account/hosts.ts';
import { SshQuestions } from './account/sshQuestions.ts';
import { ListOptions } from './jobs/store/listOptions.ts';
import { JobEventDocuments } from './jobs/log/jobEvents.ts';
import { JobLog } from './jobs/log/jobLog.ts';
import { LogDocuments } from './jobs/log/logDocuments.ts';
import { JobPages } from './jobs/page/jobPages.ts';
import { JobStore } from './jobs/store/jobStore.ts';
import { WatchedJobs } from './jobs/store/watchedJobs.ts';
import { LostContacts } from './jobs/store/lostContacts.ts';
import { pagePreviews } from './results/pagePreviews.ts';
import { resultDocuments } from './results/resultDocuments.ts';
import { ResultsView } from './results/resultsView.ts';
import { SubmittedDocuments } from './jobs/submittedDocuments.ts';
import { SourceLines } from './failures/sourceLines.ts';
import { Keys } from './account/keys.ts';
import { SignIns } from './account/signIns.ts';
import type { Services } from './services/services.ts';
import type { Shell } from './shell.ts';
import { FilesView } from './submit/preflight/filesView.ts';
import { SweepPages } from './sweeps/sweepPages.ts';
import { SweepRuns } from './sweeps/sweepRuns.ts';
import { SubmitMemory } from './submit/preflight/submitMemory.ts';
import { hostLabel } from './ui/words.ts';
import type { WorkerData, WorkerService } from './threads/worker.ts';
import { reportError } from './ui/report.ts';
import { showInStatusBar } from './ui/show.ts';
import { label } from './ui/labels.ts';
import { printableText } from '../core/text/printable.ts';

/** Creates what the commands use. It ends with the disposables. */
export function createServices({ context, output }: Shell, disposables: DisposableStore): Services {
  const end = new AbortController();
  disposables.add({ dispose: () => end.abort() });
  const home = farwharfHome();
  const redactor = new Redactor();
  const log = logTo(output, redactor);
  const name = 'farwharf';
  const workerData: WorkerData = { home, texts: vscode.l10n.bundle };
  const background = startBackground<WorkerService>({
    start: () => startThread(context.asAbsolutePath(join('dist', 'worker.mjs')), { name, workerData }),
    name,
    log,
    lost: l10n.t('A background thread of Farwharf stopped, so nothing was sent. Try again.'),
    idle: {
      afterMs: THREAD_IDLE_MS,
      isNeeded: ({ thread }) => thread.isNeeded(),
      passive: ['isNeeded', 'revision'],
    },
  });
  disposables.add({ dispose: () => void background.end() });
  const { archiver, browsed, failures, journals, ledger, results, selections, sources, submitted } = background.service;
  const keys = new Keys(context.secrets, redactor, 'key');
  const signIns = new SignIns(context.secrets, redactor, home);
  const modelKeys = new Keys(context.secrets, redactor, 'modelKey');
  const contexts = new ContextKeys();
  const questions = disposables.add(new SshQuestions(context));
  const hosts = disposables.add(
    new Hosts({
      keys,
      signIns,
      isTrusted: () => vscode.workspace.isTrusted,
      connectMachine: async (name) => openMachine(name, { home, env: await questions.environment() }, end.signal),
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
          label`$(watch) ${l10n.t('{0} asks you to wait {1}: {2}', hostLabel(host), formatDuration(seconds), reason)}`,
          seconds * 1_000,
        );
      },
    }),
  );
  const account = new AccountMonitor({ hosts, memory: context.globalState, contexts, log });
  const store = new JobStore(ledger, {
    isResting: () => !background.isRunning,
    readMark: () => readChangeMark(home),
    hasLedger: () => hasLedger(home),
  });
  const watched = new WatchedJobs(context.workspaceState);
  const colouredLines = new ColouredLines();
  const jobLog = disposables.add(
    new JobLog({ home, colouredLines, results, memory: context.workspaceState, watched, log }),
  );
  const events = disposables.add(new JobEventDocuments(home, store));
  const lostContacts = new LostContacts();
  const pages = disposables.add(
    new JobPages({
      home,
      store,
      lostContacts,
      hosts,
      log,
      extension: context.extensionUri,
      contents: (record, bytes, signal) => pagePreviews({ browsed, hosts, home, log }, record, bytes, signal),
      run: (action, { id }) => void vscode.commands.executeCommand(`farwharf.${action}`, { id }),
    }),
  );
  const documents = disposables.add(resultDocuments(browsed, ledger));
  const memory = new SubmitMemory(context.workspaceState);
  const sweeps = disposables.add(
    new SweepRuns({
      home,
      hosts,
      ledger,
      store,
      memory: context.workspaceState,
      log,
      onSent: (id) => void memory.addSubmitted(id),
    }),
  );
  const sweepPages = disposables.add(
    new SweepPages({ home, ledger, runs: sweeps, lostContacts, log, extension: context.extensionUri }),
  );
  return {
    log,
    output,
    home,
    dist: context.asAbsolutePath('dist'),
    questions,
    signal: end.signal,
    archiver,
    selections,
    journals,
    results,
    ledger,
    contexts,
    keys,
    signIns,
    modelKeys,
    hosts,
    account,
    store,
    lostContacts,
    watched,
    budgetsChanged: disposables.add(new Emitter<void>()),
    listOptions: new ListOptions(context.workspaceState),
    jobLog,
    colouredLines,
    sourceLines: new SourceLines(sources),
    submitted,
    failures,
    submittedDocuments: disposables.add(new SubmittedDocuments(submitted, ledger)),
    browsed,
    resultDocuments: documents,
    resultsView: disposables.add(new ResultsView({ browsed, documents, contexts })),
    events,
    logDocuments: disposables.add(new LogDocuments(home, store, colouredLines)),
    pages,
    sweeps,
    sweepPages,
    memory,
    wasSubmittedHere: (id) => memory.wasSubmittedHere(id),
    submits: new StartedSubmits(home),
    files: disposables.add(new FilesView({ selections, contexts, report: (error) => void reportError(log, error) })),
    flowRuntime: flowRuntime(context),
  };
}

function logTo(output: vscode.LogOutputChannel, redactor: Redactor): Logger {
  return createLogger((level, line) => output[level](printableText(line)), redactor);
}
