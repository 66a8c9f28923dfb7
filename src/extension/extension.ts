import { access } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import * as vscode from 'vscode';
import * as l10n from '@vscode/l10n';
import { farwharfHome } from '../core/files/home.ts';
import type { FolderStatus } from '../retrieval/server/folderIndex.ts';
import type { SearchHit } from '../retrieval/server/indexServer.ts';
import { registerAgentTools } from './agents/registerAgentTools.ts';
import { registerCommands } from './contributions/commands.ts';
import { registerTerminalCommand } from './contributions/terminalCommand.ts';
import type { Features } from './features.ts';
import type { JobNode } from './jobs/store/jobNodes.ts';
import { startFlowsWhereNeeded } from './flows/flowStart.ts';
import { loadWhenOpened } from './ui/loadWhenOpened.ts';
import { DEBUG_TYPE, INDEX_VIEW, JOBS_VIEW, TASK_TYPE } from './contributions/names.ts';
import type { IndexNode } from './search/index/indexTree.ts';
import type { Shell } from './shell.ts';
import { continueTour } from './workspace/folderTour.ts';

// Indexing waits until the window has finished opening.
const IDLE_AFTER_MS = 3_000;

/** What other extensions get from `activate`. */
export interface ExtensionApi {
  /** How long activation took, in milliseconds. */
  readonly activationMs: number;
  /** Search results in the open folders, best first. Unsaved files are searched as shown on screen. */
  search(query: string, options: { readonly limit: number }): Promise<readonly SearchHit[]>;
  /** The index status of each open folder. */
  indexStatus(): Promise<readonly FolderStatus[]>;
}

export function activate(context: vscode.ExtensionContext): ExtensionApi {
  const started = performance.now();
  const output = vscode.window.createOutputChannel('Farwharf', { log: true });
  const jobsChanged = new vscode.EventEmitter<JobNode | undefined>();
  const indexChanged = new vscode.EventEmitter<IndexNode | undefined>();
  let features: Promise<Features> | undefined;

  const load = (): Promise<Features> => {
    features ??= import('./features.ts').then(({ startFeatures }) => startFeatures(shell));
    return features;
  };
  const report = async (error: unknown, retry?: () => void): Promise<void> => {
    let loaded: Features;
    try {
      loaded = await load();
    } catch (cause) {
      await reportBrokenStart(cause);
      return;
    }
    await loaded.report(error, retry);
  };
  const reportBrokenStart = async (error: unknown): Promise<void> => {
    features = undefined;
    output.error('Farwharf could not start', error instanceof Error ? (error.stack ?? error.message) : String(error));
    const choice = await vscode.window.showErrorMessage(
      l10n.t('Farwharf could not start. See its log for the reason.'),
      l10n.t('Open Log'),
    );
    if (choice !== undefined) output.show();
  };
  const orReport = async <T>(list: () => Promise<T[]>): Promise<T[]> => {
    try {
      return await list();
    } catch (error) {
      await report(error);
      return [];
    }
  };

  const shell: Shell = {
    context,
    output,
    jobsChanged,
    status: vscode.window.createStatusBarItem('farwharf.status', vscode.StatusBarAlignment.Right, 100),
    jobsView: vscode.window.createTreeView(JOBS_VIEW, {
      canSelectMany: true,
      treeDataProvider: {
        onDidChangeTreeData: jobsChanged.event,
        getParent: async (node) => (await load()).tree.getParent(node),
        getTreeItem: async (node) => (await load()).tree.getTreeItem(node),
        resolveTreeItem: async (item, node) => (await load()).tree.resolveTreeItem(item, node),
        getChildren: (node) => orReport(async () => (await load()).tree.getChildren(node)),
      },
    }),
    indexChanged,
    indexView: vscode.window.createTreeView(INDEX_VIEW, {
      treeDataProvider: {
        onDidChangeTreeData: indexChanged.event,
        getTreeItem: async (node) => (await load()).search().tree.getTreeItem(node),
        getChildren: (node) =>
          orReport(async () => {
            const search = (await load()).search();
            await search.startQuietly(); // opening the view asks for an index
            return search.tree.getChildren(node);
          }),
      },
    }),
  };
  shell.status.name = 'Farwharf';
  shell.status.text = '$(rocket)';
  shell.status.tooltip = l10n.t('Farwharf: submit this folder as a job');
  shell.status.accessibilityInformation = { label: l10n.t('Farwharf: submit this folder as a job'), role: 'button' };
  shell.status.command = 'farwharf.submitWorkspace';
  if (vscode.workspace.workspaceFolders !== undefined) shell.status.show();

  let agentTools: vscode.Disposable = { dispose: () => {} };
  try {
    agentTools = registerAgentTools(async () => (await load()).agentTools());
  } catch (error) {
    // Editors made of VS Code may lack its chat.
    output.warn('no tools for agents', String(error));
  }
  const idle = new AbortController();
  context.subscriptions.push(
    output,
    jobsChanged,
    indexChanged,
    shell.status,
    shell.jobsView,
    shell.indexView,
    registerCommands({ load, report }),
    registerTerminalCommand(context),
    vscode.tasks.registerTaskProvider(TASK_TYPE, {
      provideTasks: () => orReport(async () => (await load()).tasks.provideTasks()),
      resolveTask: async (task) => (await load()).tasks.resolveTask(task),
    }),
    agentTools,
    vscode.debug.registerDebugConfigurationProvider(DEBUG_TYPE, {
      resolveDebugConfiguration: (_, configuration) => withDebugDefaults(configuration),
      resolveDebugConfigurationWithSubstitutedVariables: async (folder, configuration) =>
        (await (await load()).debugging()).resolve(folder, configuration),
    }),
    vscode.debug.registerDebugAdapterDescriptorFactory(DEBUG_TYPE, {
      createDebugAdapterDescriptor: async (session) => (await (await load()).debugging()).createAdapter(session),
    }),
    vscode.window.registerUriHandler({
      handleUri: (uri) =>
        load()
          .then((loaded) => loaded.openLink(uri))
          .catch(report),
    }),
    // The actions and problems of profiles are shown in their file.
    loadWhenOpened(({ uri }) => uri.path.endsWith('/farwharf.json'), load, report),
    startFlowsWhereNeeded(async () => (await load()).flows(), report),
    { dispose: () => idle.abort() },
  );
  void loadWhereUsedBefore(load, report);
  void indexWhenIdle(load, report, idle.signal);
  void continueTour(context).catch(report);
  return {
    activationMs: performance.now() - started,
    search: async (query, { limit }) =>
      (await load()).search().index.call((server) => server.searchFolders(query, { limit })),
    indexStatus: async () => (await load()).search().index.status,
  };
}

/** F5 without a configuration submits the file of the active editor. */
function withDebugDefaults(configuration: vscode.DebugConfiguration): vscode.DebugConfiguration {
  if (configuration.type) return configuration;
  return { type: DEBUG_TYPE, request: 'launch', name: l10n.t('Debug as Job'), file: '${file}' };
}

/** Jobs of an earlier window may still be running and are followed again, but only if Farwharf was used before. */
async function loadWhereUsedBefore(
  load: () => Promise<Features>,
  report: (error: unknown) => Promise<void>,
): Promise<void> {
  try {
    await access(farwharfHome());
  } catch {
    return; // no data folder, so nothing was ever submitted
  }
  await load().catch(report);
}

/** Starts indexing the folders that are open now or opened later. */
async function indexWhenIdle(
  load: () => Promise<Features>,
  report: (error: unknown) => Promise<void>,
  signal: AbortSignal,
): Promise<void> {
  const start = async (): Promise<void> => {
    if (vscode.workspace.workspaceFolders !== undefined) await (await load()).search().startQuietly();
  };
  try {
    await sleep(IDLE_AFTER_MS, undefined, { signal, ref: false });
    const opening = vscode.workspace.onDidChangeWorkspaceFolders(() => void start().catch(report));
    signal.addEventListener('abort', () => void opening.dispose(), { once: true });
    await start();
  } catch (error) {
    if (!signal.aborted) await report(error);
  }
}
