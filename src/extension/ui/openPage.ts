import * as vscode from 'vscode';
import { printableLine } from '../../core/text/printable.ts';
import { pageHtml } from './pageHtml.ts';

const PAGES = {
  jobPage: { type: 'farwharf.jobPage', title: 'Job' },
  sweepPage: { type: 'farwharf.sweepPage', title: 'Sweep' },
} as const;

/** Opens a page beside the editors. `closed` aborts when the user closes it. */
export function openPage(
  extension: vscode.Uri,
  { title, page }: { readonly title: string; readonly page: keyof typeof PAGES },
): { readonly panel: vscode.WebviewPanel; readonly closed: AbortSignal } {
  const files = vscode.Uri.joinPath(extension, 'dist', 'webview');
  const panel = vscode.window.createWebviewPanel(PAGES[page].type, printableLine(title), vscode.ViewColumn.Active, {
    enableScripts: true,
    localResourceRoots: [files],
  });
  const closed = new AbortController();
  panel.onDidDispose(() => closed.abort());
  const { webview } = panel;
  // Listeners are added in this turn of the event loop, before the page can send anything.
  webview.html = pageHtml(webview, files, { title: PAGES[page].title, name: page });
  return { panel, closed: closed.signal };
}
