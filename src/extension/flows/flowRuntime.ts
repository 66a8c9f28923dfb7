import { join } from 'node:path';
import type * as vscode from 'vscode';
import type { FlowRuntime } from '../../flows/run/flowRun.ts';

/** The programs that run flows for this window: the editor's own Node. */
export function flowRuntime(context: vscode.ExtensionContext): FlowRuntime {
  return { node: process.execPath, runner: context.asAbsolutePath(join('dist', 'flowRunner.mjs')) };
}

/** The environment of a flow's process. The extension host is Electron's Node on a desktop; elsewhere the variable means nothing. */
export function flowEnvironment(more: Readonly<Record<string, string>> = {}): NodeJS.ProcessEnv {
  return { ...process.env, ...more, ELECTRON_RUN_AS_NODE: '1' };
}
