// Tests what is shipped, the npm package and the extension as they are packed, on every platform that package.json promises,
// and prints a table. `--only TEXT` picks rows. `--short`: the lowest and the newest Node.js only, without the unit tests; a job and a search
// only in each environment; and without the newest VS Code, in which `npm run test:host` tests everything.
// `--artefacts FOLDER` tests the package and the extension that lie there instead of packing them, `--packed` the extension that
// `npm run package` left.
import { chmod, cp, mkdir, mkdtemp, readFile, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { messageOf } from '../src/core/errors.ts';
import type { TestEvent } from '../test/host/support/events.ts';
import { GIVEN_VARIABLE, type Given } from '../test/matrix/support/given.ts';
import { lowestNode } from './requirements.mjs';
import { type Environment, ENVIRONMENTS, WITHOUT_NODE } from './matrix/environments.ts';
import { type Kit, makeKit } from './matrix/kit.ts';
import { installNode, newestNodes } from './matrix/nodes.ts';
import { rowPath, runRow } from './matrix/runRow.ts';
import { type Row, formatMatrix, note } from './matrix/table.ts';
import { compileUnitTests } from './matrix/unitTree.ts';
import { Counts, printEvent, summary } from './testing/report.ts';
import { PLATFORMS } from './release/nodeBinaries.ts';
import { writeExecutable } from './release/writeExecutable.ts';
import { writeWheel } from './release/writeWheel.ts';
import { findChromium } from './vscode/browser.ts';
import { EVIDENCE } from './vscode/evidence.ts';
import { installCodeServer } from './vscode/install.ts';
import { runStep } from './vscode/installOnce.ts';
import { type Release, RELEASE_VARIABLE, newestRelease, oldestRelease } from './vscode/releases.ts';
import { Unavailable } from './vscode/unavailable.ts';

const { values: flags } = parseArgs({
  options: {
    short: { type: 'boolean' },
    only: { type: 'string' },
    artefacts: { type: 'string' },
    packed: { type: 'boolean', default: false },
  },
});
const PACKAGE_COLUMNS = ['main job', 'flow', 'search', 'serve'];
const BRIEF_COLUMNS = ['main job', 'search'];
const WINDOW_COLUMNS = ['main job', 'flow', 'search'];
const UNIT_TESTS = 'unit tests';

const counts = new Counts();
const rows: Row[] = [];
const print = (text: string): void => void process.stdout.write(text);
const log = (line: string): void => print(`-- ${line}\n`);

const scratch = await realpath(await mkdtemp(join(tmpdir(), 'farwharf-matrix-')));
try {
  await chmod(scratch, 0o755);
  await mkdir(EVIDENCE, { recursive: true });
  const kit = await makeKit(scratch, flags);
  await testNodes(kit);
  for (const environment of ENVIRONMENTS) {
    const columns = flags.short === true ? BRIEF_COLUMNS : PACKAGE_COLUMNS;
    await addRow(environment.name, kit.tarball, columns, (report) => testEnvironment(kit, environment, report));
  }
  await testExecutable(kit);
  for (const release of flags.short === true ? [oldestRelease()] : [oldestRelease(), newestRelease()]) {
    const name = `VS Code ${release.vscode} (code-server, Node.js ${release.node})`;
    await addRow(name, kit.vsix, WINDOW_COLUMNS, (report) => testWindow(release, report));
  }
} finally {
  await rm(scratch, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 });
}
print(rows.length === 0 ? `No platform starts with ${flags.only ?? ''}.\n` : `\n${formatMatrix(rows)}`);
print(`${summary(counts)}\n`);
process.exitCode = counts.failed > 0 || rows.length === 0 ? 1 : 0;

type Report = (column: string | undefined, event: TestEvent) => void;

/** One row. What this machine cannot run is said loudly and counted; what goes wrong has failed. */
async function addRow(
  platform: string,
  artefact: string,
  columns: readonly string[],
  run: (report: Report) => Promise<void>,
): Promise<void> {
  if (flags.only !== undefined && !platform.startsWith(flags.only)) return;
  const row: Row = { platform, artefact, cells: new Map() };
  rows.push(row);
  const started = performance.now();
  print(`\n${platform}\n`);
  const report: Report = (column, event) => {
    if (column === UNIT_TESTS && event.type === 'pass') counts.passed += 1;
    else printEvent(event, { counts, print });
    if (event.type === 'note' || event.type === 'done') return;
    const [ownTitle = ''] = event.title.split(' > ').slice(-1);
    const own = column ?? columns.find((name) => ownTitle.startsWith(`${name}:`));
    const outcome = { pass: 'ok', fail: 'FAILED', skip: 'skipped' } as const;
    for (const name of own === undefined ? columns : [own]) note(row, name, outcome[event.type]);
  };
  try {
    await run(report);
  } catch (error) {
    if (!(error instanceof Unavailable))
      report(undefined, { type: 'fail', file: 'scripts/testMatrix.ts', title: platform, error: messageOf(error) });
    else {
      for (const name of columns) note(row, name, 'skipped');
      skip(platform, error.message);
    }
  }
  log(`${((performance.now() - started) / 1000).toFixed(0)} s`);
}

function skip(platform: string, reason: string): void {
  counts.skipped += 1;
  print(`\n!!!! SKIPPED: ${platform} cannot be tested on this machine.\n!!!! ${reason}\n\n`);
}

async function testNodes(kit: Kit): Promise<void> {
  const lowest = `${lowestNode()}.0`;
  const { versions: newest, problem } = await newestNodes();
  if (problem !== undefined) skip('the newest Node.js that npm has', problem);
  const versions = flags.short === true ? [lowest, ...newest.slice(-1)] : [lowest, ...newest];
  const columns = flags.short === true ? PACKAGE_COLUMNS : [...PACKAGE_COLUMNS, UNIT_TESTS];
  const unit = columns.includes(UNIT_TESTS) ? await compileUnitTests() : undefined;
  for (const version of new Set(versions)) {
    await addRow(`Node.js ${version}`, kit.tarball, columns, async (report) => {
      const node = await installNode(version, log);
      await testPackage(kit, { name: version, tests: 'package.test.mjs', enter: () => ({ node }) }, report);
      if (unit === undefined) return;
      const command = { node, runner: join(kit.folder, 'runner.mjs'), files: unit.files, cwd: unit.folder };
      for await (const event of runRow(command)) report(UNIT_TESTS, event);
    });
  }
}

async function testEnvironment(kit: Kit, environment: Environment, report: Report): Promise<void> {
  if (process.platform !== 'linux') throw new Unavailable('the environments are made with programs of Linux');
  await testPackage(kit, environment, report, { isBrief: flags.short ?? false });
}

/** The executable of Linux, and the wheel that contains it; those of other platforms are built by `npm run release`, and not run. */
async function testExecutable(kit: Kit): Promise<void> {
  const { version } = JSON.parse(await readFile(join(import.meta.dirname, '../package.json'), 'utf8')) as {
    version: string;
  };
  const platform = PLATFORMS.find(({ name }) => name === `${process.platform}-${process.arch}`);
  const name = `farwharf-${version}-${platform?.name ?? process.platform}`;
  const folder = flags.artefacts ?? join(scratch, 'executables');
  const { name: without } = WITHOUT_NODE;
  await addRow(`${without}, an executable`, name, PACKAGE_COLUMNS, async (report) => {
    if (process.platform !== 'linux' || platform === undefined)
      throw new Unavailable('it is hidden with programs of Linux');
    if (flags.artefacts === undefined) await writeWheel(await writeExecutable(platform, folder, log), platform);
    await testPackage(kit, WITHOUT_NODE, report, { executable: join(folder, name) });
  });
  await addRow(`${without}, the executable of a Python wheel`, `${name}.whl`, BRIEF_COLUMNS, async (report) => {
    const environment = join(scratch, 'python');
    const options = { cwd: scratch, env: process.env };
    await runStep('python3', ['-m', 'venv', environment], options);
    const wheel = join(folder, `farwharf-${version}-py3-none-${platform?.wheelTag}.whl`);
    await runStep(join(environment, 'bin', 'pip'), ['install', '--quiet', '--no-index', wheel], options);
    await testPackage(kit, WITHOUT_NODE, report, { executable: join(environment, 'bin', 'farwharf'), isBrief: true });
  });
}

/** Runs the tests of the npm package on a copy of the kit, or those of an executable. */
async function testPackage(
  kit: Kit,
  environment: Environment,
  report: Report,
  { isBrief = false, executable }: { readonly isBrief?: boolean; readonly executable?: string } = {},
): Promise<void> {
  const base = await mkdtemp(join(scratch, 'row-'));
  await chmod(base, 0o755); // another user may be the one who runs the tests
  const folder = join(base, environment.folder ?? 'kit');
  try {
    await cp(kit.folder, folder, { recursive: true, verbatimSymlinks: true });
    await mkdir(join(folder, 'tmp'));
    const { node = process.execPath, prefix = [], env } = environment.enter(folder, rowPath(process.execPath));
    const given: Given = {
      project: join(folder, 'project'),
      ...(executable === undefined ? {} : { executable }),
      examples: join(folder, 'examples'),
      scratch: join(folder, 'tmp'),
      isNewUser: environment.isNewUser ?? false,
      isBrief,
    };
    const command = {
      node,
      prefix,
      runner: join(folder, 'runner.mjs'),
      files: [join(folder, environment.tests)],
      cwd: folder,
      env: { ...env, [GIVEN_VARIABLE]: JSON.stringify(given) },
    };
    for await (const event of runRow(command)) report(undefined, event);
  } finally {
    await rm(base, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 });
  }
}

async function testWindow(release: Release, report: Report): Promise<void> {
  await installCodeServer(log, release);
  await findChromium(log);
  const command = {
    node: process.execPath,
    runner: join(import.meta.dirname, 'matrix', 'runner.ts'),
    files: [join(import.meta.dirname, '../test/matrix/window.test.ts')],
    cwd: scratch,
    env: { ...process.env, [RELEASE_VARIABLE]: release.codeServer },
  };
  for await (const event of runRow(command)) report(undefined, event);
}
