import * as vscode from 'vscode';

/** Attaches VS Code's own JavaScript debugger to a flow that waits for it. Breakpoints in its files then are ordinary ones. */
export function debugWith(
  uri: vscode.Uri,
  label: string,
): (place: { readonly host: string; readonly port: number }) => void {
  const folder = vscode.workspace.getWorkspaceFolder(uri);
  return ({ host, port }) => {
    void vscode.debug.startDebugging(folder, {
      type: 'node',
      request: 'attach',
      name: `Flow ${label}`,
      address: host,
      port,
      continueOnAttach: true,
      skipFiles: ['<node_internals>/**', '**/dist/flowRunner.mjs', '**/dist/chunks/**', '**/dist/agents.mjs'],
    });
  };
}
