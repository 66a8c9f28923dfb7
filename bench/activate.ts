// What the extension costs everybody who installs it: the size of the VSIX, and how long it holds up VS Code's start.
import { spawnSync } from 'node:child_process';
import { mkdir, mkdtemp, realpath, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createVSIX } from '@vscode/vsce';
import { formatBytes } from '../src/core/text/format.ts';
import { build } from '../scripts/build.ts';
import { packExtension } from '../scripts/package.ts';
import { findChromium, launchBrowser } from '../scripts/vscode/browser.ts';
import { isolatedEnvironment } from '../scripts/vscode/environment.ts';
import { installCodeServer } from '../scripts/vscode/install.ts';
import { endProcessesOf } from '../scripts/vscode/processes.ts';
import { installExtension, startServer } from '../scripts/vscode/server.ts';
import { readActivation } from '../scripts/vscode/startupPerformance.ts';
import { Unavailable } from '../scripts/vscode/unavailable.ts';
import { openWorkbench, workbenchUrl } from '../scripts/vscode/workbench.ts';

interface Sample {
  readonly loadMs: number;
  readonly activateMs: number;
}

const PROCESSES = 7;
const WINDOWS = 5;

const print = (line: string): void => void process.stdout.write(`${line}\n`);
const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[values.length >> 1] ?? Number.NaN;

function printSamples(where: string, samples: readonly Sample[]): void {
  const load = median(samples.map(({ loadMs }) => loadMs));
  const activate = median(samples.map(({ activateMs }) => activateMs));
  print(`${where}: load ${load.toFixed(1)} ms, activate ${activate.toFixed(1)} ms (median of ${samples.length})`);
}

/** In a bare Node, with a stand-in for VS Code: the extension's own work and nothing else. */
function measureProcesses(): Sample[] {
  const script = join(import.meta.dirname, 'support', 'activateOnce.ts');
  return Array.from({ length: PROCESSES }, () => {
    const { status, stdout, stderr } = spawnSync(process.execPath, [script], { encoding: 'utf8' });
    if (status !== 0) throw new Error(`${script} exited with ${status}:\n${stderr}`);
    return JSON.parse(stdout) as Sample;
  });
}

/** An extension that does nothing: what it takes in the same windows is VS Code's share, and that of the machine. */
async function packEmptyExtension(folder: string): Promise<string> {
  const engines = { vscode: '^1.105.0' };
  const start = { main: './extension.js', activationEvents: ['onStartupFinished'] };
  const manifest = { name: 'empty', publisher: 'bench', version: '1.0.0', engines, ...start };
  await mkdir(folder);
  await writeFile(join(folder, 'package.json'), JSON.stringify(manifest));
  await writeFile(join(folder, 'extension.js'), 'exports.activate = () => {};\n');
  const packagePath = `${folder}.vsix`;
  await createVSIX({ cwd: folder, packagePath, allowMissingRepository: true, skipLicense: true });
  return packagePath;
}

/** In the real extension host, as *Developer: Startup Performance* reports it: both extensions, which start at the same time. */
async function measureWindows(vsix: string): Promise<Record<'farwharf' | 'empty', Sample[]>> {
  const codeServer = await installCodeServer(print);
  const chromium = await findChromium(print);
  const scratch = await realpath(await mkdtemp(join(tmpdir(), 'farwharf-activate-')));
  const options = { userData: join(scratch, 'data'), env: isolatedEnvironment(join(scratch, 'home')) };
  try {
    await installExtension(codeServer, vsix, options);
    await installExtension(codeServer, await packEmptyExtension(join(scratch, 'empty')), options);
    await using server = await startServer(codeServer, options);
    await using browser = await launchBrowser(chromium);
    const samples: Record<'farwharf' | 'empty', Sample[]> = { farwharf: [], empty: [] };
    for (let window = 0; window < WINDOWS; window += 1) {
      const context = await browser.newContext();
      await context.grantPermissions(['clipboard-read', 'clipboard-write'], { origin: `http://${server.authority}` });
      const page = await context.newPage();
      await openWorkbench(page, workbenchUrl(server.authority, scratch));
      samples.farwharf.push(await readActivation(page, 'farwharf.farwharf'));
      samples.empty.push(await readActivation(page, 'bench.empty'));
      await page.goto('about:blank');
      await context.close();
    }
    return samples;
  } finally {
    await endProcessesOf(scratch);
    await rm(scratch, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 });
  }
}

build();
const vsix = await packExtension();
printSamples('bare process', measureProcesses());
try {
  const { farwharf, empty } = await measureWindows(vsix);
  printSamples('real extension host', farwharf);
  printSamples('an extension that does nothing, in the same windows', empty);
} catch (error) {
  if (!(error instanceof Unavailable)) throw error;
  print(`real extension host: SKIPPED, ${error.message}`);
}
print(`VSIX: ${formatBytes((await stat(vsix)).size)}`);
