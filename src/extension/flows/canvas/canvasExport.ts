import * as vscode from 'vscode';
import { showInformation } from '../../ui/show.ts';

/** Saves a drawing to a file that the user chooses, by default next to the flow's source. */
export async function exportCanvas(
  { uri }: vscode.TextDocument,
  { format, flow, text }: { readonly format: 'svg' | 'mermaid'; readonly flow: string; readonly text: string },
): Promise<void> {
  const extension = format === 'svg' ? 'svg' : 'mmd';
  const name = `${flow.replaceAll(/[^\w.-]/g, '_')}.${extension}`;
  const target = await vscode.window.showSaveDialog({
    defaultUri: vscode.Uri.joinPath(uri, '..', name),
    filters: format === 'svg' ? { SVG: ['svg'] } : { Mermaid: ['mmd'] },
    title: `Export ${flow}`,
  });
  if (target === undefined) return;
  await vscode.workspace.fs.writeFile(target, new TextEncoder().encode(text));
  const open = 'Open';
  const chosen = await showInformation(`${flow} was written to ${target.path}.`, open);
  if (chosen === open) await vscode.commands.executeCommand('vscode.open', target);
}
