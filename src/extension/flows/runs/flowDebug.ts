import * as vscode from 'vscode';
import { type DebuggerPlace, debugConfiguration } from '../../../flows/run/process/debugConfiguration.ts';
import type { FlowRuntime } from '../../../flows/run/protocol/flowRun.ts';

/** Attaches VS Code's JavaScript debugger to a waiting flow, so that breakpoints in its files work as usual. */
export function debugWith(uri: vscode.Uri, label: string, runtime: FlowRuntime): (place: DebuggerPlace) => void {
  const folder = vscode.workspace.getWorkspaceFolder(uri);
  return (place) => {
    void vscode.debug.startDebugging(folder, { ...debugConfiguration(place, `Flow ${label}`, runtime) });
  };
}
