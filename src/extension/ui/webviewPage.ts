export interface WebviewPageOptions {
  readonly title: 'Flow' | 'Job' | 'Sweep';
  /** URLs of the page's files in `dist/webview`. */
  readonly script: string;
  readonly style: string;
  /** The source of the webview's own resources: `webview.cspSource`. */
  readonly source: string;
  /** An unguessable value, new for each page. */
  readonly nonce: string;
  /** VS Code's language: `de`. */
  readonly language: string;
  /** The translated texts by the English ones; undefined where the language has none. */
  readonly texts: Readonly<Record<string, string>> | undefined;
}

/** A page of a webview. Only its own script and style are allowed, and no network access. */
export function webviewPage({ title, script, style, source, nonce, language, texts }: WebviewPageOptions): string {
  const policy = `default-src 'none'; script-src 'nonce-${nonce}'; style-src ${source}; img-src data:; base-uri 'none'; form-action 'none'`;
  return `<!doctype html>
<html lang="${escapeAttribute(texts === undefined ? 'en' : language)}">
  <head>
    <meta charset="utf-8">
    <meta http-equiv="Content-Security-Policy" content="${policy}">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>${title}</title>
    <link rel="stylesheet" href="${style}">
  </head>
  <body${texts === undefined ? '' : ` data-texts="${escapeAttribute(JSON.stringify(texts))}"`}>
    <script nonce="${nonce}" src="${script}"></script>
  </body>
</html>
`;
}

function escapeAttribute(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('"', '&quot;');
}
