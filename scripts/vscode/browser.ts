import { existsSync } from 'node:fs';
import { type Browser, chromium } from 'playwright-core';
import { findProgram, programsAreMissing } from '../programs.ts';
import { Unavailable } from './unavailable.ts';

/** Chromium without its windows, which takes half of the processor time for the same pages. */
const HEADLESS_SHELL = 'chromium-headless-shell';
const BROWSERS = ['google-chrome-stable', 'google-chrome', 'chromium', 'chromium-browser', 'microsoft-edge'];
const MAC_APPS = [
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
];
const FLAGS = [
  '--no-sandbox', // its sandbox refuses to work for root, which is what containers run as; the pages are our own
  '--disable-gpu',
  '--in-process-gpu', // drawing in software in a process of its own costs a tenth more
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

/** Headers of a page that keep code-server from compressing its 20 MB anew for each window, which takes it two seconds. */
export const UNCOMPRESSED = { 'accept-encoding': 'identity' };

/**
 * Returns the path of a Chromium: `FARWHARF_CHROMIUM`, an installed one, or the distribution's package where this process
 * may install it.
 *
 * @throws Unavailable with what to install; Error when `FARWHARF_CHROMIUM` names nothing.
 */
export async function findChromium(log: (line: string) => void): Promise<string> {
  const chosen = process.env['FARWHARF_CHROMIUM'];
  if (chosen) {
    if (!existsSync(chosen)) throw new Error(`FARWHARF_CHROMIUM is ${chosen}, which does not exist`);
    return chosen;
  }
  return findInstalled() ?? (await installPackage(log));
}

/** Starts a headless Chromium. The caller closes it. */
export function launchBrowser(executablePath: string): Promise<Browser> {
  return chromium.launch({ executablePath, headless: true, args: FLAGS });
}

function findInstalled(): string | undefined {
  return findProgram([HEADLESS_SHELL, ...BROWSERS]) ?? MAC_APPS.find((path) => existsSync(path));
}

async function installPackage(log: (line: string) => void): Promise<string> {
  const onInstall = (): void => log('installing Chromium with apt-get (once; about a minute)');
  const missing = await programsAreMissing('Chromium', {
    programs: [HEADLESS_SHELL],
    packages: [HEADLESS_SHELL],
    onInstall,
  });
  const installed = findInstalled();
  if (installed !== undefined) return installed;
  throw new Unavailable(
    `${missing}; install Chrome or Chromium, or set FARWHARF_CHROMIUM to the path of its executable`,
  );
}
