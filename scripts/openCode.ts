import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { findProgram } from './programs.ts';
import { cacheFolder } from './vscode/cache.ts';
import { installCodeServer } from './vscode/install.ts';
import { startServer } from './vscode/server.ts';
import { workbenchUrl } from './vscode/workbench.ts';

const EDITORS = ['code', 'code-insiders', 'codium', 'cursor', 'windsurf'];
const BROWSER_OPENERS: Partial<Record<NodeJS.Platform, string>> = { darwin: 'open', linux: 'xdg-open' };

interface OpenOptions {
  /** Folder of the extension's package.json, built. */
  readonly extension: string;
  readonly workspace: string;
  readonly print: (line: string) => void;
}

/**
 * Opens a folder in VS Code with the extension loaded: in the desktop's where there is one (`FARWHARF_VSCODE` names
 * another), else in the browser, until Ctrl+C. Returns the exit status.
 *
 * @throws Unavailable where there is no VS Code and none can be installed.
 */
export async function openCode(options: OpenOptions): Promise<number> {
  const editor = process.env['FARWHARF_VSCODE'] ?? (hasScreen() ? findProgram(EDITORS) : undefined);
  return editor === undefined ? openInBrowser(options) : openOnDesktop(editor, options);
}

function hasScreen(): boolean {
  return process.platform !== 'linux' || Boolean(process.env['DISPLAY'] || process.env['WAYLAND_DISPLAY']);
}

async function openOnDesktop(editor: string, { extension, workspace, print }: OpenOptions): Promise<number> {
  print(`Opening ${workspace} with ${editor}. Farwharf is the pier in the activity bar.`);
  const child = spawn(editor, [`--extensionDevelopmentPath=${extension}`, '--new-window', workspace], {
    stdio: 'inherit',
  });
  const [code] = (await once(child, 'exit')) as [number | null];
  return code ?? 1;
}

async function openInBrowser({ extension, workspace, print }: OpenOptions): Promise<number> {
  print('No desktop VS Code was found, so it will be the one in the browser.');
  const codeServer = await installCodeServer(print);
  await using server = await startServer(codeServer, { userData: join(cacheFolder(), 'start') });
  const url = workbenchUrl(server.authority, workspace, [
    ['extensionDevelopmentPath', `vscode-remote://${server.authority}${extension}`],
  ]);
  print(`\n  ${url}\n\nFarwharf is the pier in the activity bar. Ctrl+C here ends VS Code.`);
  openBrowser(url);
  await Promise.race([once(process, 'SIGINT'), once(process, 'SIGTERM')]);
  return 0;
}

/** Where no browser can be opened, the address that was printed does as well. */
function openBrowser(url: string): void {
  const opener = BROWSER_OPENERS[process.platform];
  if (opener === undefined || !hasScreen()) return;
  spawn(opener, [url], { stdio: 'ignore', detached: true })
    .on('error', () => {})
    .unref();
}
