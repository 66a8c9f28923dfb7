import { join } from 'node:path';
import * as vscode from 'vscode';
import * as l10n from '@vscode/l10n';
import { farwharfHome } from '../core/files/home.ts';
import { createLogger } from '../core/log.ts';
import { Redactor } from '../core/redact.ts';
import { startThread } from '../core/rpc/rpcProgram.ts';
import { printableText } from '../core/text/printable.ts';
import { registerAccount } from './account/registerAccount.ts';
import type { AgentTools } from './agents/agentTools.ts';
import { registerAgents } from './agents/registerAgents.ts';
import type { FeatureCommands } from './contributions/commands.ts';
import { ContextKeys } from './contributions/contexts.ts';
import { Parts } from './contributions/parts.ts';
import { type DebugFeature, registerDebugging } from './debug/registerDebugging.ts';
import { registerFailures } from './failures/registerFailures.ts';
import type { Flows } from './flows/flows.ts';
import { registerFlows } from './flows/registerFlows.ts';
import { flowRuntime as createFlowRuntime } from './flows/runs/flowRuntime.ts';
import { registerInside } from './inside/registerInside.ts';
import type { JobTree } from './jobs/list/jobTree.ts';
import { registerJobs } from './jobs/registerJobs.ts';
import { registerNotebooks } from './notebooks/registerNotebooks.ts';
import { registerResults } from './results/registerResults.ts';
import { registerSearch } from './search/registerSearch.ts';
import type { Search } from './search/search.ts';
import type { Shell } from './shell.ts';
import { showStatus } from './statusBar.ts';
import { SubmitMemory } from './submit/preflight/submitMemory.ts';
import { registerSubmit } from './submit/registerSubmit.ts';
import { registerSweeps } from './sweeps/registerSweeps.ts';
import { JobTasks } from './jobTasks.ts';
import { startBackground, THREAD_IDLE_MS } from './threads/background.ts';
import type { WorkerData, WorkerService } from './threads/worker.ts';
import { reportError } from './ui/report.ts';

export interface Features {
  readonly commands: FeatureCommands;
  readonly tree: Pick<JobTree, 'getChildren' | 'getParent' | 'getTreeItem' | 'resolveTreeItem'>;
  readonly tasks: JobTasks;
  /** Created on first use. */
  readonly debugging: DebugFeature['debugging'];
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

/** Starts all features, each with just what it uses of the others. */
export async function startFeatures(shell: Shell): Promise<Features> {
  const { context, output } = shell;
  const home = farwharfHome();
  const redactor = new Redactor();
  const log = createLogger((level, line) => output[level](printableText(line)), redactor);
  const parts = new Parts(log);
  const ending = new AbortController();
  const { signal } = ending;
  context.subscriptions.push(parts);
  parts.add({ dispose: () => ending.abort() });
  const report = (error: unknown): void => void reportError(log, error);

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
  parts.add({ dispose: () => void background.end() });
  const { service: worker } = background;
  const { ledger } = worker;

  const contexts = new ContextKeys();
  const memory = new SubmitMemory(context.workspaceState);
  const flowRuntime = createFlowRuntime(context);
  const wasSubmittedHere = (id: string): boolean => memory.wasSubmittedHere(id);
  // What most features use.
  const base = { context, contexts, home, ledger, log, parts, report, signal, wasSubmittedHere, worker };

  const accounts = registerAccount({ ...base, output, redactor });
  const { account, budgetsChanged, hosts, keys } = accounts;
  const agents = registerAgents({ ...base, hosts, keys, redactor });
  const { modelKeys } = agents;
  const jobs = registerJobs({
    ...base,
    account,
    hosts,
    isWorkerRunning: () => background.isRunning,
    shown: { view: shell.jobsView, changed: shell.jobsChanged },
  });
  const { store } = jobs;
  parts.setUp('status bar', () =>
    showStatus(shell.status, { account, budgetsChanged, home, hosts, ledger, log, store }),
  );
  registerNotebooks({ ...base, store });
  const results = registerResults({ ...base, hosts, jobs });
  const inside = registerInside({ ...base, hosts, jobs, results });
  const failures = registerFailures({ ...base, hosts, jobs, modelKeys });
  const sweeps = registerSweeps({ ...base, hosts, jobs, onSent: (id) => void memory.addSubmitted(id) });
  const { submit, ...submits } = registerSubmit({ ...base, account, flowRuntime, hosts, jobs, memory, sweeps });
  const debug = registerDebugging({ ...base, hosts, jobs, submit, tunnels: inside.tunnels });
  const { indexChanged, indexView } = shell;
  const search = registerSearch({ ...base, indexChanged, indexView, modelKeys });
  const flows = registerFlows({ ...base, flowRuntime, hosts, jobs, modelKeys, submit });

  return {
    commands: {
      account: () => accounts.commands({ ledger, store }),
      agents: agents.commands,
      debug: debug.commands,
      failures: failures.commands,
      flows: flows.commands,
      inside: inside.commands,
      jobs: jobs.commands,
      results: results.commands,
      search: search.commands,
      submit: submits.commands,
      sweeps: () => sweeps.commands({ downloading: results.downloading, submit }),
    },
    tree: jobs.tree,
    tasks: new JobTasks({ home, hosts, ledger, log, store, submit, worker }),
    debugging: debug.debugging,
    agentTools: agents.tools,
    search: search.search,
    flows: flows.flows,
    openLink: jobs.openLink,
    report: (error, retry) => reportError(log, error, retry),
  };
}
