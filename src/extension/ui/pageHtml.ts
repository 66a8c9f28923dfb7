import { randomBytes } from 'node:crypto';
import * as vscode from 'vscode';
import { type WebviewPageOptions, webviewPage } from './webviewPage.ts';

/** The HTML of a page whose files are in `dist/webview`, in VS Code's language. */
export function pageHtml(
  webview: vscode.Webview,
  files: vscode.Uri,
  { title, name }: Pick<WebviewPageOptions, 'title'> & { readonly name: string },
): string {
  return webviewPage({
    title,
    script: webview.asWebviewUri(vscode.Uri.joinPath(files, `${name}.js`)).toString(),
    style: webview.asWebviewUri(vscode.Uri.joinPath(files, `${name}.css`)).toString(),
    source: webview.cspSource,
    nonce: randomBytes(16).toString('base64url'),
    language: vscode.env.language,
    texts: vscode.l10n.bundle,
  });
}
