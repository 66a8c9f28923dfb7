import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { format } from 'node:util';
import type { BrowserContext, Page } from 'playwright-core';
import { AsyncDisposableStore } from '../../src/core/processes/lifetime.ts';
import { findChromium, launchBrowser, UNCOMPRESSED } from './browser.ts';
import type { Host, HostOptions } from './host.ts';
import { installCodeServer } from './install.ts';
import { startServer } from './server.ts';
import { openWorkbench, workbenchUrl } from './workbench.ts';

// Ends a window that hangs; it is no measure of the tests in it. A busy machine takes many times as long as a quiet one.
const SUITE_TIMEOUT_MS = 45 * 60_000;

/**
 * VS Code in a browser: code-server and Chromium.
 *
 * @throws Unavailable if one of them is not available.
 */
export async function startCodeServerHost(options: HostOptions): Promise<Host> {
  const codeServer = await installCodeServer(options.log);
  const chromium = await findChromium(options.log);
  await using started = new AsyncDisposableStore();
  const server = started.use(await startServer(codeServer, options));
  const browser = await launchBrowser(chromium);
  started.defer(() => browser.close());
  const context = await browser.newContext({ viewport: { width: 1400, height: 900 }, extraHTTPHeaders: UNCOMPRESSED });
  const resources = started.move();
  return {
    name: `code-server ${codeServer.release.codeServer}`,
    runSuite: (suite, folder) => runSuite(context, server.authority, { suite, folder }, options),
    [Symbol.asyncDispose]: () => resources[Symbol.asyncDispose](),
  };
}

async function runSuite(
  context: BrowserContext,
  authority: string,
  { suite, folder }: { suite: string; folder: string },
  options: HostOptions,
): Promise<boolean> {
  const page = await context.newPage();
  try {
    const exit = Promise.withResolvers<number>();
    await page.exposeFunction('codeAutomationExit', exit.resolve);
    await page.exposeFunction('codeAutomationLog', (level: string, values: unknown[]) => {
      appendFileSync(join(options.evidence, 'window.log'), `[${level}] ${format(...values)}\n`);
    });
    page.once('crash', () => exit.reject(new Error('The browser page crashed.')));
    const remote = (path: string) => `vscode-remote://${authority}${path}`;
    const payload: [string, string][] = [
      ['extensionDevelopmentPath', remote(options.extension)],
      ['extensionTestsPath', remote(suite)],
      ['skipWelcome', 'true'],
    ];
    await openWorkbench(page, workbenchUrl(authority, folder, payload));
    const timeout = sleep(SUITE_TIMEOUT_MS, undefined, { ref: false }).then(() => {
      throw new Error(`The suite did not end within ${SUITE_TIMEOUT_MS / 1000} s.`);
    });
    return (await Promise.race([exit.promise, timeout])) === 0;
  } catch (error) {
    await savePicture(page, join(options.evidence, 'window.png'));
    throw error;
  } finally {
    await page.goto('about:blank').catch(() => {}); // informs the server that this window is closed, which a killed page does not
    await page.close();
  }
}

async function savePicture(page: Page, path: string): Promise<void> {
  await page.screenshot({ path }).catch(() => {}); // a crashed page has no picture; the reason of the failure matters more
}
