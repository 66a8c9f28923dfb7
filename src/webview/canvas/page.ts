interface PageOptions {
  /** Addresses of `dist/webview/canvas.js` and `canvas.css` as the webview may load them. */
  readonly script: string;
  readonly style: string;
  /** What the webview's own resources come from: `webview.cspSource`. */
  readonly source: string;
  /** A value that nobody can guess, new for each page. */
  readonly nonce: string;
}

/** The page of the canvas. Nothing but its own script and style runs in it, and it reaches no network. */
export function canvasPage({ script, style, source, nonce }: PageOptions): string {
  const policy = `default-src 'none'; script-src 'nonce-${nonce}'; style-src ${source}; img-src data:; base-uri 'none'; form-action 'none'`;
  return `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta http-equiv="Content-Security-Policy" content="${policy}">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>Flow</title>
    <link rel="stylesheet" href="${style}">
  </head>
  <body>
    <script nonce="${nonce}" src="${script}"></script>
  </body>
</html>
`;
}
