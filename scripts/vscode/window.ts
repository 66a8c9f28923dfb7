import { mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { vsixPath } from '../package.ts';
import { findChromium, launchBrowser } from './browser.ts';
import { installCodeServer } from './install.ts';
import { endProcessesOf } from './processes.ts';
import { installExtension, startServer } from './server.ts';
import { openWorkbench, workbenchUrl } from './workbench.ts';

/** A window of the real workbench with the packed extension in it, and nothing left of either when disposed. */
export interface Window extends AsyncDisposable {
  readonly page: Page;
  /** FARWHARF_HOME of this window. */
  readonly home: string;
}

/**
 * Opens a window on a folder that `prepare` fills.
 *
 * @param prepare is given the folder's path and a scratch folder that is removed with the window.
 */
export async function openWindow(prepare: (folder: string, scratch: string) => Promise<void>): Promise<Window> {
  const say = (line: string) => void process.stderr.write(`${line}\n`);
  const codeServer = await installCodeServer(say);
  const chromium = findChromium(say);
  await using opened = new AsyncDisposableStack();
  const scratch = await realpath(await mkdtemp(join(tmpdir(), 'farwharf-window-')));
  opened.defer(() => rm(scratch, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 }));
  opened.defer(() => endProcessesOf(scratch));
  const [folder, home, userData] = ['quick start', 'home', 'data'].map((name) => join(scratch, name)) as [
    string,
    string,
    string,
  ];
  await prepare(folder, scratch);
  const options = { userData, env: { FARWHARF_HOME: home } };
  await installExtension(codeServer, await vsixPath(), options);
  const server = opened.use(await startServer(codeServer, options));
  const browser = opened.use(await launchBrowser(chromium));
  const page = await browser.newPage({ viewport: { width: 1400, height: 900 } });
  opened.defer(async () => void (await page.goto('about:blank').catch(() => {}))); // tells the server that the window is closed
  await openWorkbench(page, workbenchUrl(server.authority, folder));
  const resources = opened.move();
  return { page, home, [Symbol.asyncDispose]: () => resources.disposeAsync() };
}
