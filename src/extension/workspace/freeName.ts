import * as vscode from 'vscode';

/** A name in a folder that nothing has yet: `chat.mts`, or `chat2.mts` if that exists. */
export async function freeName(folder: vscode.Uri, stem: string, extension = ''): Promise<vscode.Uri> {
  for (let number = 1; ; number += 1) {
    const uri = vscode.Uri.joinPath(folder, `${stem}${number === 1 ? '' : number}${extension}`);
    if (!(await exists(uri))) return uri;
  }
}

/** Whether a file or a folder exists. */
export function exists(uri: vscode.Uri): Promise<boolean> {
  return Promise.resolve(vscode.workspace.fs.stat(uri)).then(
    () => true,
    () => false,
  );
}
