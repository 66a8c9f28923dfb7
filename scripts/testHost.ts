// Runs the tests that need a real VS Code: the suites in its extension host, then the packed extension in its window.
// `--grep TEXT` picks tests by title, `--only suites`, `--only network`, `--only window` or `--only slurm` one of the parts.
import { glob, mkdir, mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { messageOf } from '../src/core/errors.ts';
import { CHECKOUT_FILES, writeCheckout } from '../test/host/support/checkout.ts';
import { startCompanyNetwork } from '../test/host/support/companyNetwork.ts';
import { build } from './build.ts';
import { packExtension } from './package.ts';
import { runWindowTestFiles } from './testFiles.ts';
import { findChromium } from './vscode/browser.ts';
import { startCodeServerHost } from './vscode/codeServerHost.ts';
import { startDesktopHost } from './vscode/desktopHost.ts';
import { isolatedEnvironment } from './vscode/environment.ts';
import { EVIDENCE } from './vscode/evidence.ts';
import type { Host, HostOptions } from './vscode/host.ts';
import { installCodeServer } from './vscode/install.ts';
import { endProcessesOf } from './vscode/processes.ts';
import { Counts, followReport, printEvent, summary } from './vscode/report.ts';
import { SERVICE_VARIABLE, startSlurmService } from './vscode/slurmService.ts';
import { Unavailable } from './vscode/unavailable.ts';

const ROOT = resolve(import.meta.dirname, '..');
const { values: flags } = parseArgs({ options: { grep: { type: 'string' }, only: { type: 'string' } } });
// And the folders that they open. The second finds the window as the first left it, with a job that still runs.
const SUITES = { first: 'workspace', reopened: 'workspace', search: 'large' };

// A window waits most of the time: for VS Code, for a job, for a person's next key.
const WINDOWS_AT_ONCE = 2;

const counts = new Counts();
const print = (text: string): void => void process.stdout.write(text);
const log = (line: string): void => print(`-- ${line}\n`);

await rm(EVIDENCE, { recursive: true, force: true });
await mkdir(EVIDENCE, { recursive: true });
build('--tests');
if (isWanted('suites')) await part('Suites in the extension host', () => runSuites(SUITES));
if (isWanted('network')) await part('The extension host behind a proxy', runBehindProxy);
if (isWanted('window')) await part('The packed extension in its window', () => runWindow('*.test.ts'));
if (isWanted('slurm')) await part('The main job in its window, with its jobs on a Slurm cluster', runWindowOnSlurm);
print(`${summary(counts)}\n`);
process.exitCode = counts.failed > 0 ? 1 : 0;

function isWanted(name: string): boolean {
  return flags.only === undefined || flags.only === name;
}

/** One part of the tests. What this machine cannot run is said loudly and counted; what goes wrong has failed. */
async function part(name: string, run: () => Promise<void>): Promise<void> {
  print(`\n${name}\n`);
  try {
    await run();
  } catch (error) {
    if (!(error instanceof Unavailable))
      printEvent({ type: 'fail', title: name, error: messageOf(error) }, counts, print);
    else {
      counts.skipped += 1;
      print(`\n!!!! SKIPPED: ${name} did not run on this machine.\n!!!! ${error.message}\n\n`);
    }
  }
}

async function runBehindProxy(): Promise<void> {
  await using network = await startCompanyNetwork();
  await runSuites({ network: 'workspace' }, network.env);
}

/** Runs suites, and if a test fails, all of them once more in new folders, because one continues what another has left. */
async function runSuites(suites: Readonly<Record<string, string>>, env: NodeJS.ProcessEnv = {}): Promise<void> {
  const retriedBefore = counts.retried;
  try {
    await runSuitesOnce(suites, env, 'retry');
  } catch (error) {
    if (error instanceof Unavailable) throw error;
    printEvent({ type: 'retry', title: Object.keys(suites).join(', '), error: messageOf(error) }, counts, print);
  }
  if (counts.retried > retriedBefore) await runSuitesOnce(suites, env, 'fail');
}

/** @param failure how the failure of a test counts. */
async function runSuitesOnce(
  suites: Readonly<Record<string, string>>,
  env: NodeJS.ProcessEnv,
  failure: 'retry' | 'fail',
): Promise<void> {
  const scratch = await realpath(await mkdtemp(join(tmpdir(), 'farwharf-host-')));
  const folders = {
    home: join(scratch, 'home'),
    workspace: join(scratch, SUITES.first),
    large: join(scratch, SUITES.search),
    userData: join(scratch, 'data'),
  };
  const report = join(scratch, 'report.jsonl');
  try {
    for (const folder of Object.values(folders)) await mkdir(folder);
    await using host = await startHost({
      extension: ROOT,
      userData: folders.userData,
      env: {
        ...isolatedEnvironment(folders.home),
        ...env,
        FARWHARF_TEST_REPORT: report,
        FARWHARF_TEST_GREP: flags.grep ?? '',
      },
      evidence: EVIDENCE,
      log,
    });
    log(`running in ${host.name}`);
    await writeCheckout(folders.large, CHECKOUT_FILES);
    for (const [suite, opened] of Object.entries(suites)) {
      await runSuite(host, { suite, opened: join(scratch, opened) }, { report, failure });
    }
  } finally {
    await endProcessesOf(folders.home);
    await rm(scratch, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 });
  }
}

async function runSuite(
  host: Host,
  { suite, opened }: { suite: string; opened: string },
  { report, failure }: { report: string; failure: 'retry' | 'fail' },
): Promise<void> {
  const before = counts.failures.length;
  await rm(report, { force: true });
  const ended = new AbortController();
  const running = host.runSuite(join(ROOT, 'out', 'host', suite, 'index.js'), opened).finally(() => ended.abort());
  let isDone = false;
  const printing = (async () => {
    for await (const event of followReport(report, ended.signal)) {
      isDone ||= event.type === 'done';
      printEvent(event.type === 'fail' ? { ...event, type: failure } : event, counts, print);
    }
  })();
  const [isGood] = await Promise.all([running, printing]);
  if (!isDone) throw new Error(`The suite '${suite}' ended before its tests did; see ${EVIDENCE}.`);
  if (!isGood && counts.failures.length === before) throw new Error(`VS Code says that the suite '${suite}' failed.`);
}

/** The tests of the window run in processes of their own, as `node --test` runs them. */
async function runWindow(pattern: string): Promise<void> {
  await installCodeServer(log);
  await findChromium(log);
  await packExtension();
  const files = await Array.fromAsync(glob(`test/host/ui/${pattern}`, { cwd: ROOT }), (file) => join(ROOT, file));
  const options = { files, concurrency: WINDOWS_AT_ONCE, grep: flags.grep };
  for await (const event of runWindowTestFiles(options)) printEvent(event, counts, print);
}

/** The same test as without a cluster: the user of a window need not know where jobs run. */
async function runWindowOnSlurm(): Promise<void> {
  await using service = await startSlurmService();
  process.env[SERVICE_VARIABLE] = JSON.stringify({ url: service.url, key: service.key });
  try {
    await runWindow('window.test.ts');
  } finally {
    delete process.env[SERVICE_VARIABLE];
  }
}

/** Desktop VS Code where there is one; the same workbench in a browser otherwise. */
async function startHost(options: HostOptions): Promise<Host> {
  try {
    return await startDesktopHost(options);
  } catch (error) {
    if (!(error instanceof Unavailable)) throw error;
    log(`${error.message}; VS Code in a browser is used instead`);
    return startCodeServerHost(options);
  }
}
