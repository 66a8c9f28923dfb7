import * as vscode from 'vscode';
import * as l10n from '@vscode/l10n';
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
    title: l10n.t('Export {0}', flow),
  });
  if (target === undefined) return;
  await vscode.workspace.fs.writeFile(target, new TextEncoder().encode(text));
  const open = l10n.t('Open');
  const button = await showInformation(l10n.t('{0} was written to {1}.', flow, target.path), open);
  if (button === open) await vscode.commands.executeCommand('vscode.open', target);
}
