// Runs the tests that need a real VS Code: the suites in its extension host, then the packed extension in its window.
// `--grep TEXT` picks tests by title, `--only suites`, `--only network`, `--only window` or `--only ssh` one of the parts.
// `--packed` tests what `npm run package -- --tests` left, instead of building it anew.
import { glob, mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { messageOf } from '../src/core/errors.ts';
import { CHECKOUT_FILES, writeCheckout } from '../test/host/support/checkout.ts';
import { startCompanyNetwork } from '../test/host/support/companyNetwork.ts';
import { build } from './build.ts';
import { packExtension } from './package.ts';
import { Counts, followReport, type PartReport, PartReports, printEvent, summary } from './testing/report.ts';
import { runTestFiles } from './testing/testFiles.ts';
import { findChromium } from './vscode/browser.ts';
import { startCodeServerHost } from './vscode/codeServerHost.ts';
import { startDesktopHost } from './vscode/desktopHost.ts';
import { isolatedEnvironment } from './vscode/environment.ts';
import { EVIDENCE } from './vscode/evidence.ts';
import type { Host, HostOptions } from './vscode/host.ts';
import { installCodeServer } from './vscode/install.ts';
import { endProcessesOf } from './vscode/processes.ts';
import { chosenRelease, RELEASE_VARIABLE } from './vscode/releases.ts';
import { Unavailable } from './vscode/unavailable.ts';

const ROOT = resolve(import.meta.dirname, '..');
const { values: flags } = parseArgs({
  options: { grep: { type: 'string' }, only: { type: 'string' }, packed: { type: 'boolean', default: false } },
});
// And the folders that they open. The second finds the window as the first left it, with a job that still runs.
const SUITES = { first: 'workspace', reopened: 'workspace', search: 'large' };

// The machine has no price, as everywhere, and once more one.
const MACHINE_CLASSES = `
[[machine_classes]]
name = "local"

[[machine_classes]]
name = "paid"
credits_per_minute = 0.1
`;

const counts = new Counts();
const reports = new PartReports((text) => void process.stdout.write(text));

await rm(EVIDENCE, { recursive: true, force: true });
await mkdir(EVIDENCE, { recursive: true });
if (!flags.packed) {
  build('--tests');
  await packExtension();
}
// Three windows keep two cores busy. The others are one window at a time, and another file's takes its place when they are done.
const others = part('suites', 'Suites in the extension host', (report) => runSuites(SUITES, report))
  .then(() => part('network', 'The extension host behind a proxy', runBehindProxy))
  .then(() => part('ssh', 'The main job in its window, on machines over SSH', (report) => runWindows('ssh', report)));
await part('window', 'The packed extension in its window', (report) =>
  runWindows('ui', report, [Promise.resolve(), Promise.resolve(), others]),
);
await others;
process.stdout.write(`\n${summary(counts)}\n`);
process.exitCode = counts.failed > 0 ? 1 : 0;

/** One part of the tests. What this machine cannot run is said loudly and counted; what goes wrong has failed. */
async function part(name: string, title: string, run: (report: PartReport) => Promise<void>): Promise<void> {
  if (flags.only !== undefined && flags.only !== name) return;
  const report = reports.start(title);
  try {
    await run(report);
  } catch (error) {
    if (!(error instanceof Unavailable))
      printEvent({ type: 'fail', file: 'test/host', title, error: messageOf(error) }, report);
    else {
      report.counts.skipped += 1;
      report.print(`\n!!!! SKIPPED: ${title} did not run on this machine.\n!!!! ${error.message}\n\n`);
    }
  }
  counts.add(report.counts);
}

async function runBehindProxy(report: PartReport): Promise<void> {
  await using network = await startCompanyNetwork(chosenRelease());
  await runSuites({ network: 'workspace' }, report, network.env);
}

/** Runs suites one after the other in one profile, because one continues what another has left. */
async function runSuites(
  suites: Readonly<Record<string, string>>,
  report: PartReport,
  env: NodeJS.ProcessEnv = {},
): Promise<void> {
  const log = logOf(report);
  const scratch = await realpath(await mkdtemp(join(tmpdir(), 'farwharf-host-')));
  const folders = {
    home: join(scratch, 'home'),
    workspace: join(scratch, SUITES.first),
    large: join(scratch, SUITES.search),
    userData: join(scratch, 'data'),
  };
  const file = join(scratch, 'report.jsonl');
  try {
    for (const folder of Object.values(folders)) await mkdir(folder);
    await writeFile(join(folders.home, 'service.toml'), MACHINE_CLASSES, { mode: 0o600 });
    await using host = await startHost({
      extension: ROOT,
      userData: folders.userData,
      env: {
        ...isolatedEnvironment(folders.home),
        ...env,
        FARWHARF_TEST_REPORT: file,
        FARWHARF_TEST_GREP: flags.grep ?? '',
      },
      evidence: EVIDENCE,
      log,
    });
    log(`running in ${host.name}`);
    await writeCheckout(folders.large, CHECKOUT_FILES);
    for (const [suite, opened] of Object.entries(suites)) {
      await runSuite(host, { suite, opened: join(scratch, opened), file }, report);
    }
  } finally {
    await endProcessesOf(folders.home);
    await rm(scratch, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 });
  }
}

async function runSuite(
  host: Host,
  { suite, opened, file }: { suite: string; opened: string; file: string },
  report: PartReport,
): Promise<void> {
  const before = report.counts.failures.length;
  await rm(file, { force: true });
  const ended = new AbortController();
  const running = host.runSuite(join(ROOT, 'out', 'host', suite, 'index.js'), opened).finally(() => ended.abort());
  let isDone = false;
  const printing = (async () => {
    for await (const event of followReport(file, ended.signal)) {
      isDone ||= event.type === 'done';
      printEvent(event, report);
    }
  })();
  const [isGood] = await Promise.all([running, printing]);
  if (!isDone) throw new Error(`The suite '${suite}' ended before its tests did; see ${EVIDENCE}.`);
  if (!isGood && report.counts.failures.length === before)
    throw new Error(`VS Code says that the suite '${suite}' failed.`);
}

/**
 * The tests of windows run in processes of their own, as `node --test` runs them, one file after the other.
 *
 * @param starts when to begin with that; each of them takes the next file that none has begun.
 */
async function runWindows(
  folder: string,
  report: PartReport,
  starts: readonly Promise<void>[] = [Promise.resolve()],
): Promise<void> {
  await installCodeServer(logOf(report));
  await findChromium(logOf(report));
  const files = await Array.fromAsync(glob(`test/host/${folder}/*.test.ts`, { cwd: ROOT }));
  const next = files.toSorted().values();
  const runFiles = async (): Promise<void> => {
    for (const file of next) {
      const events = runTestFiles({ files: [join(ROOT, file)], concurrency: 1, grep: flags.grep });
      for await (const event of events) printEvent(event, report);
    }
  };
  await Promise.all(starts.map((start) => start.then(runFiles)));
}

function logOf({ print }: PartReport): (line: string) => void {
  return (line) => print(`-- ${line}\n`);
}

/** Desktop VS Code where there is one, unless a version of code-server was named; the same workbench in a browser otherwise. */
async function startHost(options: HostOptions): Promise<Host> {
  if (process.env[RELEASE_VARIABLE]) return startCodeServerHost(options);
  try {
    return await startDesktopHost(options);
  } catch (error) {
    if (!(error instanceof Unavailable)) throw error;
    options.log(`${error.message}; VS Code in a browser is used instead`);
    return startCodeServerHost(options);
  }
}
