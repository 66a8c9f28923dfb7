import { mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { AsyncDisposableStore } from '../../src/core/processes/lifetime.ts';
import { vsixPath } from '../vsixPath.ts';
import { findChromium, launchBrowser, UNCOMPRESSED } from './browser.ts';
import { isolatedEnvironment } from './environment.ts';
import { type CodeServer, installCodeServer } from './install.ts';
import { copyInstalledExtension } from './installedExtension.ts';
import { endProcessesOf } from './processes.ts';
import { startServer } from './server.ts';
import { emptyWindowUrl, openWorkbench, WAIT_TIMEOUT_MS, workbenchUrl } from './workbench.ts';

/** A window of the real workbench with the packed extension in it, and nothing left of either when disposed. */
export interface Window extends AsyncDisposable {
  readonly page: Page;
  /** Path of the settings file; VS Code obeys changes at once. */
  readonly settings: string;
  /** The folder of everything that the window and its processes write: profile, logs, FARWHARF_HOME, the opened folder. */
  readonly scratch: string;
}

interface WindowOptions {
  /** Name of the folder that is opened; without one, the window is empty and the folder is the home folder of its user. */
  readonly name: string | undefined;
  readonly settings?: Readonly<Record<string, unknown>>;
  /** Variables of its processes. */
  readonly env?: NodeJS.ProcessEnv;
  /** Whether VS Code asks for trust, so that the folder opens in Restricted Mode. */
  readonly asksForTrust?: boolean;
  /** Of the window's contents, in pixels; by default 1280 by 800. */
  readonly size?: { readonly width: number; readonly height: number };
  /** Fills the folder. `scratch` is removed with the window. */
  readonly prepare: (folder: string, scratch: string) => Promise<void>;
  /** Prepares the page before the workbench is loaded into it. */
  readonly beforeLoad?: (page: Page) => Promise<void>;
  /** Derives the code-server of the window from the installed one; by default that one is used itself. */
  readonly adapt?: (codeServer: CodeServer) => Promise<CodeServer & AsyncDisposable>;
}

const SIZE = { width: 1280, height: 800 };

/**
 * Opens a window on a new folder, with a FARWHARF_HOME of its own.
 *
 * @throws Unavailable where there is no browser or no code-server to be had.
 */
export async function openWindow({
  name,
  settings,
  env,
  asksForTrust = false,
  size = SIZE,
  prepare,
  beforeLoad,
  adapt,
}: WindowOptions): Promise<Window> {
  const log = (line: string) => void process.stderr.write(`${line}\n`);
  const installed = await installCodeServer(log);
  const chromium = await findChromium(log);
  await using opened = new AsyncDisposableStore();
  const codeServer = adapt === undefined ? installed : opened.use(await adapt(installed));
  const scratch = await realpath(await mkdtemp(join(tmpdir(), 'farwharf-window-')));
  opened.defer(() => rm(scratch, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 }));
  opened.defer(() => endProcessesOf(scratch));
  const folder = join(scratch, name ?? 'user');
  await prepare(folder, scratch);
  const userData = join(scratch, 'data');
  const home = join(scratch, 'home');
  const options = {
    userData,
    env: { ...isolatedEnvironment(home), ...(name === undefined ? { HOME: folder } : {}), ...env },
    asksForTrust,
    ...(settings === undefined ? {} : { settings }),
  };
  await copyInstalledExtension(codeServer, { vsix: await vsixPath(), userData, log });
  const server = opened.use(await startServer(codeServer, options));
  const browser = opened.use(await launchBrowser(chromium));
  const context = await browser.newContext({
    viewport: size,
    reducedMotion: 'reduce',
    extraHTTPHeaders: UNCOMPRESSED,
  });
  context.setDefaultTimeout(WAIT_TIMEOUT_MS);
  const page = await context.newPage();
  opened.defer(async () => void (await page.goto('about:blank').catch(() => {}))); // informs the server that the window is closed
  await beforeLoad?.(page);
  await openWorkbench(
    page,
    name === undefined ? emptyWindowUrl(server.authority) : workbenchUrl(server.authority, folder),
  );
  const resources = opened.move();
  return {
    page,
    settings: join(userData, 'User', 'settings.json'),
    scratch,
    [Symbol.asyncDispose]: () => resources[Symbol.asyncDispose](),
  };
}
