import { dirname, join } from 'node:path';
import * as vscode from 'vscode';
import * as l10n from '@vscode/l10n';
import { type DebuggerPlace, debugConfiguration } from '../../../flows/run/start/debugConfiguration.ts';
import { type VariableSource, variableNames } from '../../../flows/run/protocol/flowEnvironment.ts';
import type { FlowRuntime } from '../../../flows/run/protocol/runRequest.ts';
import { readSetting } from '../../contributions/config.ts';

/** The programs that run flows for this window: the editor's own Node. */
export function flowRuntime(context: vscode.ExtensionContext): FlowRuntime {
  return { node: process.execPath, runner: context.asAbsolutePath(join('dist', 'flowRunner.mjs')) };
}

/**
 * The variables of a flow's process. The extension host is Electron's Node on a desktop; elsewhere ELECTRON_RUN_AS_NODE has no
 * effect.
 *
 * @throws AppError `bad-input` for a setting with anything but names.
 */
export function flowVariables(more: Readonly<Record<string, string>> = {}): VariableSource {
  const names = variableNames(readSetting('flows.environment').map(String), 'farwharf.flows.environment');
  return {
    env: { ...process.env, ...more, ELECTRON_RUN_AS_NODE: '1' },
    variables: [...names, ...Object.keys(more)],
  };
}

/** Where a flow file runs: in the folder of this window that it is in, otherwise in its own. @throws AppError as `flowVariables`. */
export function flowPlace(file: string, more?: Readonly<Record<string, string>>) {
  const folder = vscode.workspace.getWorkspaceFolder(vscode.Uri.file(file));
  return { file, cwd: folder?.uri.fsPath ?? dirname(file), ...flowVariables(more) };
}

/** Attaches VS Code's JavaScript debugger to a waiting flow, so that breakpoints in its files work as usual. */
export function debugWith(uri: vscode.Uri, label: string, runtime: FlowRuntime): (place: DebuggerPlace) => void {
  const folder = vscode.workspace.getWorkspaceFolder(uri);
  return (place) => {
    void vscode.debug.startDebugging(folder, { ...debugConfiguration(place, l10n.t('Flow {0}', label), runtime) });
  };
}
