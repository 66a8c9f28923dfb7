import { access } from 'node:fs/promises';
import * as vscode from 'vscode';
import { farwharfHome } from '../core/home.ts';
import { registerCommands } from './commands.ts';
import type { Features } from './features.ts';
import type { JobNode } from './jobNodes.ts';
import { JOBS_VIEW } from './names.ts';
import type { Shell } from './shell.ts';

export interface ExtensionApi {
  /** How long activation took, in milliseconds. */
  readonly activationMs: number;
}

export function activate(context: vscode.ExtensionContext): ExtensionApi {
  const started = performance.now();
  const output = vscode.window.createOutputChannel('Farwharf', { log: true });
  const jobsChanged = new vscode.EventEmitter<JobNode | undefined>();
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
    const choice = await vscode.window.showErrorMessage('Farwharf could not start. Its log says why.', 'Open Log');
    if (choice !== undefined) output.show();
  };

  const shell: Shell = {
    context,
    output,
    jobsChanged,
    status: vscode.window.createStatusBarItem('farwharf.status', vscode.StatusBarAlignment.Right, 100),
    jobsView: vscode.window.createTreeView(JOBS_VIEW, {
      treeDataProvider: {
        onDidChangeTreeData: jobsChanged.event,
        getTreeItem: async (node) => (await load()).tree.getTreeItem(node),
        resolveTreeItem: async (item, node) => (await load()).tree.resolveTreeItem(item, node),
        getParent: async (node) => (await load()).tree.getParent(node),
        getChildren: async (node) => {
          try {
            return await (await load()).tree.getChildren(node);
          } catch (error) {
            await report(error);
            return [];
          }
        },
      },
    }),
  };
  shell.status.name = 'Farwharf';
  shell.status.text = '$(rocket)';
  shell.status.tooltip = 'Farwharf: submit this folder as a job';
  shell.status.accessibilityInformation = { label: 'Farwharf: submit this folder as a job', role: 'button' };
  shell.status.command = 'farwharf.submitWorkspace';
  if (vscode.workspace.workspaceFolders !== undefined) shell.status.show();

  context.subscriptions.push(output, jobsChanged, shell.status, shell.jobsView, registerCommands({ load, report }));
  void loadWhereUsedBefore(load, report);
  return { activationMs: performance.now() - started };
}

/** Jobs of an earlier window may still run: they are followed again, but only where Farwharf was ever used. */
async function loadWhereUsedBefore(
  load: () => Promise<Features>,
  report: (error: unknown) => Promise<void>,
): Promise<void> {
  try {
    await access(farwharfHome());
  } catch {
    return; // no data folder: nothing was ever submitted here
  }
  await load().catch(report);
}
