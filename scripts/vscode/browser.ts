import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { type Browser, chromium } from 'playwright-core';
import { Unavailable } from './unavailable.ts';

const NAMES = ['google-chrome-stable', 'google-chrome', 'chromium', 'chromium-browser', 'microsoft-edge'];
const MAC_APPS = [
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
];
const FLAGS = [
  '--no-sandbox', // its sandbox refuses to work for root, which is what containers run as; the pages are our own
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

/**
 * Gives the path of a Chromium: `FARWHARF_CHROMIUM`, an installed one, or the distribution's package where this process
 * may install it.
 *
 * @throws Unavailable with what to install; Error when `FARWHARF_CHROMIUM` names nothing.
 */
export function findChromium(log: (line: string) => void): string {
  const chosen = process.env['FARWHARF_CHROMIUM'];
  if (chosen) {
    if (!existsSync(chosen)) throw new Error(`FARWHARF_CHROMIUM is ${chosen}, which does not exist`);
    return chosen;
  }
  return findInstalled() ?? installPackage(log);
}

/** Starts a headless Chromium. The caller closes it. */
export function launchBrowser(executablePath: string): Promise<Browser> {
  return chromium.launch({ executablePath, headless: true, args: FLAGS });
}

/** Path of the first of `names` on PATH. */
export function findProgram(names: readonly string[]): string | undefined {
  const folders = (process.env['PATH'] ?? '').split(delimiter);
  return names.flatMap((name) => folders.map((folder) => join(folder, name))).find((path) => existsSync(path));
}

function findInstalled(): string | undefined {
  return findProgram(NAMES) ?? MAC_APPS.find((path) => existsSync(path));
}

function installPackage(log: (line: string) => void): string {
  const missing =
    'no Chrome or Chromium was found; install one, or set FARWHARF_CHROMIUM to the path of its executable';
  const aptGet = findProgram(['apt-get']);
  if (aptGet === undefined || process.getuid?.() !== 0) throw new Unavailable(missing);
  log('installing Chromium with apt-get (once; about a minute)');
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  for (const args of [['update'], ['install', '-y', '--no-install-recommends', 'chromium']]) {
    const { status, stderr } = spawnSync(aptGet, args, { env, encoding: 'utf8' });
    if (status !== 0) throw new Unavailable(`${missing} (apt-get ${args[0]} failed: ${stderr.trim().slice(-500)})`);
  }
  const installed = findInstalled();
  if (installed === undefined) throw new Unavailable(missing);
  return installed;
}
