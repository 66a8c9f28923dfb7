// What an idle window costs: memory of VS Code's extension host on a folder, and of the extension's own processes, with the extension and
// without it. Linux only.
// `--folder PATH`: the folder to open, by default this repository; `--seconds N`: how long the window is idle.
import { readFileSync, readdirSync } from 'node:fs';
import { mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { build } from '../scripts/build.ts';
import { packExtension } from '../scripts/package.ts';
import { findChromium, launchBrowser } from '../scripts/vscode/browser.ts';
import { isolatedEnvironment } from '../scripts/vscode/environment.ts';
import { installCodeServer } from '../scripts/vscode/install.ts';
import { endProcessesOf } from '../scripts/vscode/processes.ts';
import { installExtension, startServer } from '../scripts/vscode/server.ts';
import { openWorkbench, workbenchUrl } from '../scripts/vscode/workbench.ts';

const STEP_SECONDS = 15;
const START_LIMIT_MS = 120_000;
const OWN_PROGRAM = /farwharf\.farwharf-[^/]*\/dist\/(\w+)\.mjs/;
const { values } = parseArgs({
  options: {
    folder: { type: 'string', default: join(import.meta.dirname, '..') },
    seconds: { type: 'string', default: '120' },
  },
});
const folder = resolve(values.folder);
const seconds = Number(values.seconds);
const print = (line: string): void => void process.stdout.write(`idleWindow: ${line}\n`);

/** The extension host that was started for `scratch`, as soon as it runs. */
async function extensionHost(scratch: string): Promise<number> {
  for (const deadline = performance.now() + START_LIMIT_MS; performance.now() < deadline; await sleep(200)) {
    const host = findExtensionHost(scratch);
    if (host !== undefined) return host;
  }
  throw new Error('The extension host was not found.');
}

function findExtensionHost(scratch: string): number | undefined {
  return processIds().find(
    (id) =>
      read(`/proc/${id}/cmdline`).includes('--type=extensionHost') && read(`/proc/${id}/environ`).includes(scratch),
  );
}

/** The processes that the extension has started, with the names of their programs. */
function ownProcesses(host: number): ReadonlyMap<number, string> {
  const started = processIds().filter((id) => read(`/proc/${id}/status`).includes(`\nPPid:\t${host}\n`));
  const programs = started.map((id) => [id, OWN_PROGRAM.exec(read(`/proc/${id}/cmdline`))?.[1]] as const);
  return new Map(programs.flatMap(([id, program]) => (program === undefined ? [] : [[id, program]])));
}

function processIds(): readonly number[] {
  return readdirSync('/proc').map(Number).filter(Number.isInteger);
}

/** Megabytes that belong to a process alone and cannot be read from a file again. */
function anonymousMegabytes(pid: number): number {
  return (Number(/^Anonymous:\s+(\d+)/m.exec(read(`/proc/${pid}/smaps_rollup`))?.[1]) * 1024) / 1e6;
}

function threads(pid: number): readonly string[] {
  const names = readdirSync(`/proc/${pid}/task`).map((id) => read(`/proc/${pid}/task/${id}/comm`).trim());
  return [...new Set(names.filter((name) => name.startsWith('farwharf')))];
}

function read(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return ''; // the process has ended
  }
}

/** Megabytes of an idle window, at its end. */
async function measure(name: string, vsix: string | undefined): Promise<number> {
  const codeServer = await installCodeServer(print);
  const chromium = await findChromium(print);
  const scratch = await realpath(await mkdtemp(join(tmpdir(), 'farwharf-idle-')));
  const options = { userData: join(scratch, 'data'), env: isolatedEnvironment(join(scratch, 'home')) };
  try {
    if (vsix !== undefined) await installExtension(codeServer, vsix, options);
    await using server = await startServer(codeServer, options);
    await using browser = await launchBrowser(chromium);
    const page = await (await browser.newContext()).newPage();
    await openWorkbench(page, workbenchUrl(server.authority, folder));
    const host = await extensionHost(scratch);
    let megabytes = 0;
    for (let waited = STEP_SECONDS; waited <= seconds; waited += STEP_SECONDS) {
      await sleep(STEP_SECONDS * 1_000);
      const own = ownProcesses(host);
      megabytes = [host, ...own.keys()].map(anonymousMegabytes).reduce((sum, one) => sum + one);
      const running = [...threads(host), ...own.values()].join(', ') || 'none';
      print(
        `${name}: after ${waited} s ${megabytes.toFixed(1)} MB, threads and processes of the extension: ${running}`,
      );
    }
    await page.goto('about:blank');
    return megabytes;
  } finally {
    await endProcessesOf(scratch);
    await rm(scratch, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 });
  }
}

build();
const without = await measure('without the extension', undefined);
const withExtension = await measure('with the extension', await packExtension());
print(`an idle window costs ${(withExtension - without).toFixed(1)} MB`);
