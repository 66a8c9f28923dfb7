import { mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { vsixPath } from '../package.ts';
import { findChromium, launchBrowser } from './browser.ts';
import { isolatedEnvironment } from './environment.ts';
import { installCodeServer } from './install.ts';
import { endProcessesOf } from './processes.ts';
import { writeStateFile } from '../../src/service/stateFile.ts';
import { installExtension, startServer } from './server.ts';
import { type GivenService, SERVICE_VARIABLE } from './slurmService.ts';
import { openWorkbench, workbenchUrl } from './workbench.ts';

/** A window of the real workbench with the packed extension in it, and nothing left of either when disposed. */
export interface Window extends AsyncDisposable {
  readonly page: Page;
  /** Path of the settings file; VS Code obeys changes at once. */
  readonly settings: string;
}

interface WindowOptions {
  /** Name of the folder that is opened. */
  readonly name: string;
  readonly settings?: Readonly<Record<string, unknown>>;
  /** Fills the folder. `scratch` is removed with the window. */
  readonly prepare: (folder: string, scratch: string) => Promise<void>;
}

const VIEWPORT = { width: 1280, height: 800 };

/**
 * Opens a window on a new folder, with a FARWHARF_HOME of its own.
 *
 * @throws Unavailable where there is no browser or no code-server to be had.
 */
export async function openWindow({ name, settings, prepare }: WindowOptions): Promise<Window> {
  const log = (line: string) => void process.stderr.write(`${line}\n`);
  const codeServer = await installCodeServer(log);
  const chromium = findChromium(log);
  await using opened = new AsyncDisposableStack();
  const scratch = await realpath(await mkdtemp(join(tmpdir(), 'farwharf-window-')));
  opened.defer(() => rm(scratch, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 }));
  opened.defer(() => endProcessesOf(scratch));
  const folder = join(scratch, name);
  await prepare(folder, scratch);
  const userData = join(scratch, 'data');
  const home = join(scratch, 'home');
  useGivenService(home);
  const options = {
    userData,
    env: isolatedEnvironment(home),
    ...(settings === undefined ? {} : { settings }),
  };
  await installExtension(codeServer, await vsixPath(), options);
  const server = opened.use(await startServer(codeServer, options));
  const browser = opened.use(await launchBrowser(chromium));
  const page = await (await browser.newContext({ viewport: VIEWPORT })).newPage();
  opened.defer(async () => void (await page.goto('about:blank').catch(() => {}))); // tells the server that the window is closed
  await openWorkbench(page, workbenchUrl(server.authority, folder));
  const resources = opened.move();
  return {
    page,
    settings: join(userData, 'User', 'settings.json'),
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
}

/** Lets a window find the service of whoever runs the tests where it would find one of its own that runs already. */
function useGivenService(home: string): void {
  const given = process.env[SERVICE_VARIABLE];
  if (given === undefined) return;
  const { url, key } = JSON.parse(given) as GivenService;
  writeStateFile(join(home, 'service', 'state.json'), { url, key, pid: process.pid, version: 'given' });
}
