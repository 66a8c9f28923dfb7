import { chmodSync, lstatSync, mkdirSync, readlinkSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { AppError } from '../../core/errors.ts';
import { printableText } from '../../core/text/printable.ts';
import { volumeVariable } from '../../remote/protocol/volume.ts';
import { isInstallerVariable } from '../../workspace/environments/installerVariables.ts';
import { checkPackageList, type PackageList, readPackageList } from '../../workspace/environments/packageList.ts';
import { environmentsIn } from '../folders/environmentFolder.ts';
import type { VirtualEnvironmentSpec } from '../jobFiles/runnerSpec.ts';
import { buildSteps, type Step, STEP_LIMIT_MS, toolsOf } from './environment/environmentBuild.ts';
import { packagesKey } from './environment/environmentKey.ts';
import { isOfNode, type JobPackages } from './environment/jobPackages.ts';
import { type BuildResult, keepEnvironment } from './environment/keepEnvironment.ts';
import { type ProgramFinder, PROGRAMS_IN_CONTAINER, programsOnMachine } from './environment/programFinder.ts';
import { imageFetch } from './program/containerCall.ts';
import { type JobVariables, variablesOnMachine } from './program/jobVariables.ts';
import { notStarted, type RunOutcome, type JobRun, runConfined, searchPath, stopped } from './jobRun.ts';
import type { ProgramEnd } from './runProcess.ts';

// They make Python load programs from the folder, which differs for later jobs.
const FOLDER_VARIABLES = ['PYTHONPATH', 'PYTHONHOME', 'PYTHONSTARTUP'];
const MODULES = 'node_modules';
const SAID_LINES = 3;
const MAX_SAID = 300;
const PASSWORD = /(:\/\/)[^\s/@]+@/g;

/** What the setup led to: how the job ended if it failed, otherwise the run with its packages. */
export interface SetUp {
  readonly ending?: RunOutcome;
  /** The run whose programs find the packages. */
  readonly run: JobRun;
  /** Seconds that its programs ran. */
  readonly ranSeconds: number;
  /** Called after the script has ended. */
  readonly cleanUp?: (() => void) | undefined;
}

/** A run of a job that needs packages. */
interface PackageRun {
  readonly run: JobRun;
  readonly venv: VirtualEnvironmentSpec;
  readonly list: PackageList;
  /** Seconds that were used before. */
  readonly usedSeconds: number;
}

type Built = Pick<SetUp, 'ending' | 'ranSeconds'>;

/** What a build of packages that later jobs use has in place of the workspace, of which it must not depend on anything else. */
interface BuildFolder {
  /** Has the files of the list, as they were when they were hashed, and nothing else. */
  readonly lists: string;
  /** An empty folder. */
  readonly empty: string;
}

/**
 * Fetches the image of the job's container, and installs its packages or takes those that an earlier job has installed, if it has them.
 * Building a package runs a program that the account chose, so this counts as running the job: within its time limit, and charged. Waiting
 * for another job's build is neither.
 *
 * @throws AppError for a list of packages that cannot be used.
 */
export async function setUp(run: JobRun, secretNames: readonly string[]): Promise<SetUp> {
  const { folder, spec, container, signal } = run;
  if (signal.aborted) return { run, ending: stopped(signal, 0), ranSeconds: 0 };
  const fetch = container && imageFetch(container, folder, process.env['PATH'] ?? '');
  const fetched = await runSteps(fetch === undefined ? [] : [fetch], { ...run, container: undefined }, 0);
  if (fetched.ending !== undefined) return { run, ...fetched };
  const { venv } = spec;
  const list = venv === null ? undefined : await readPackageList(folder.workspace, venv);
  if (venv === null || list === undefined) return { run, ...fetched };
  checkPackageList(list);
  const request = { run, venv, list, usedSeconds: fetched.ranSeconds };
  const environments = spec.environments && join(environmentsIn(dirname(dirname(folder.path))), spec.environments);
  const why = whyNotKept(request, secretNames);
  if (environments !== undefined && why === undefined)
    return installKept(request, { account: environments, secretNames });
  if (environments !== undefined) run.output.note(`the packages are installed for this job only: ${why}`);
  const target = folder.virtualEnvironment;
  mkdirSync(target, { recursive: true, mode: 0o700 });
  const built = await install(request, { target });
  if (built.ending !== undefined) return { run, ...built };
  return { ...ready(request, { tool: list.tool, path: target, access: 'writable' }), ranSeconds: built.ranSeconds };
}

/** Why later jobs cannot use what this job installs; undefined if they can. */
function whyNotKept({ run, venv, list }: PackageRun, secretNames: readonly string[]): string | undefined {
  if (venv.keep === false) return 'it asks for that with "keep": false';
  if (run.container !== undefined) return 'they belong to the image of its container';
  if (list.localPackage !== undefined) return `${list.name} names ${list.localPackage}, which comes from the folder`;
  const texts = [...list.files.map(({ text }) => text), ...[venv.requirements ?? []].flat()];
  const used = secretNames.find((name) => texts.some((text) => text.includes(`\${${name}}`)));
  return used && `${list.name} contains the secret ${used}, which must not stay in what is kept`;
}

async function installKept(
  request: PackageRun,
  { account, secretNames }: { readonly account: string; readonly secretNames: readonly string[] },
): Promise<SetUp> {
  const { run, venv, list, usedSeconds } = request;
  const { spec, output, signal } = run;
  const tools = toolsOf({ list, spec: venv, programs: programsFor(run) });
  const key = packagesKey(list, tools, run.variables.inherited);
  // Everything that a build sees can influence its result, or become part of it. So it sees nothing but what the key is made of.
  const chosen = Object.keys(venv.env ?? {}).filter((name) => !isInstallerVariable(name));
  const ofVolumes = run.volumes.map(({ name }) => volumeVariable(name));
  const unseen = new Set([...secretNames, ...chosen, ...ofVolumes, ...FOLDER_VARIABLES, 'FARWHARF_ARTIFACTS']);
  const { inherited, own } = run.variables;
  const variables = { inherited: without(inherited, new Set(FOLDER_VARIABLES)), own: without(own, unseen) };
  let ranSeconds = usedSeconds;
  const place = { account, key, list, jobId: spec.jobId, note: (text: string) => output.note(text), signal };
  try {
    const kept = await keepEnvironment<RunOutcome>(place, async (target): Promise<BuildResult<RunOutcome>> => {
      const build = makeBuildFolder(run.folder.build, list);
      const built = await install({ ...request, run: buildRun(run, variables) }, { target, build });
      ranSeconds = built.ranSeconds;
      const { ending } = built;
      if (ending === undefined) return { isBuilt: true };
      const failure = ending.outcome === 'not-started' ? (ending.detail ?? undefined) : undefined;
      return { isBuilt: false, ending, failure };
    });
    if ('ending' in kept) return { run, ending: kept.ending, ranSeconds };
    if ('failure' in kept) return { run, ending: notStarted(kept.failure, ranSeconds), ranSeconds };
    return { ...ready(request, { tool: list.tool, path: kept.target, access: 'read-only' }), ranSeconds };
  } catch (error) {
    if (signal.aborted) return { run, ending: stopped(signal, ranSeconds), ranSeconds };
    if (!(error instanceof AppError && error.code === 'conflict')) throw error;
    const message = `Another job has been installing the packages of ${list.name} for longer than that may take. Submit again.`;
    return { run, ending: notStarted(message, ranSeconds), ranSeconds };
  }
}

/** A run without the workspace, and without all else that jobs can write. */
function buildRun(run: JobRun, variables: JobVariables): JobRun {
  const { folder, confinement } = run;
  const sandbox = confinement?.sandbox && { ...confinement.sandbox, writable: [] };
  return {
    ...run,
    variables,
    volumes: [],
    folder: { ...folder, workspace: folder.build },
    confinement: confinement && { ...confinement, sandbox: sandbox ?? null },
  };
}

/**
 * Runs the steps of a build. Each of its programs sees the environment's folder, and can write there.
 *
 * @param options.build what it sees in place of the workspace if later jobs will use the environment.
 */
function install(
  { run, venv, list, usedSeconds }: PackageRun,
  { target, build }: { readonly target: string; readonly build?: BuildFolder },
): Promise<Built> {
  const packages: JobPackages = { tool: list.tool, path: target, access: 'writable' };
  const { workspace } = run.folder;
  const { lists, empty: cwd } = build ?? { lists: workspace, empty: workspace };
  const places = { folder: run.folder, lists, cwd, target, isKept: build !== undefined };
  const steps = buildSteps({ list, spec: venv, programs: programsFor(run), ...places });
  return runSteps(steps, { ...run, packages }, usedSeconds);
}

function programsFor(run: JobRun): ProgramFinder {
  if (run.container !== undefined) return PROGRAMS_IN_CONTAINER;
  return programsOnMachine(searchPath(run, process.env['PATH'] ?? ''));
}

function ready({ run, list }: PackageRun, packages: JobPackages): Pick<SetUp, 'run' | 'cleanUp'> {
  const cleanUp = isOfNode(list) ? linkNodeModules(run.folder.workspace, list, packages.path) : undefined;
  return { run: { ...run, packages }, cleanUp };
}

async function runSteps(steps: readonly Step[], run: JobRun, usedSeconds: number): Promise<Built> {
  const { spec, variables, packages, output } = run;
  let ranSeconds = usedSeconds;
  for (const step of steps) {
    output.note(step.note ?? `${step.file} ${step.args.join(' ')}`);
    output.takeRecent();
    const leftMs = 1000 * (spec.maxRuntimeSeconds - ranSeconds);
    // The fetch of an image is no program of the job.
    const env = step.isFree === true ? variables.inherited : variablesOnMachine(variables, packages);
    const limitMs = Math.min(STEP_LIMIT_MS, leftMs);
    const charged = step.isFree === true ? { seconds: 0 } : run.charged;
    const program = { ...step, env: { ...env, ...step.env } };
    const end = await runConfined(program, limitMs, { ...run, charged }, { marker: run.folder.installing });
    ranSeconds += end.ranSeconds;
    const ending = endingOfStep(end, step, { ranSeconds, isOverTime: leftMs <= STEP_LIMIT_MS }, run);
    if (ending !== undefined) return { ending, ranSeconds };
  }
  return { ranSeconds };
}

/** How a job ends with a step of its setup; undefined if it continues. */
function endingOfStep(
  { endedBy, code, detail }: ProgramEnd,
  { file, doing, failure, isFree = false }: Step,
  { ranSeconds, isOverTime }: { readonly ranSeconds: number; readonly isOverTime: boolean },
  { output, signal }: JobRun,
): RunOutcome | undefined {
  if (endedBy === 'signal') return stopped(signal, ranSeconds);
  if (endedBy === 'limit' && isOverTime) {
    output.note(`the time limit was reached while ${doing}, which counts; increase it`);
    return { outcome: 'timed_out', code: null, signal: null, detail: null, ranSeconds };
  }
  if (code === 0 && endedBy === 'itself') return undefined;
  const sentence =
    endedBy === 'limit'
      ? `It took longer than 30 minutes until ${doing}.`
      : (detail ?? [failure, ...saidBy(basename(file), output.takeRecent())].join(' '));
  return notStarted(sentence, isFree ? 0 : ranSeconds);
}

/** The last lines of a program, as a sentence: without what a terminal would not show, and without passwords in addresses. */
function saidBy(program: string, text: string): readonly string[] {
  const lines = printableText(text.replaceAll(/[^\n]*\r(?!\n)/g, ''))
    .split('\n')
    .map((line) => line.trim().replaceAll(PASSWORD, '$1***@').slice(0, MAX_SAID))
    .filter((line) => line !== '')
    .slice(-SAID_LINES);
  return lines.length === 0 ? [] : [`The last lines of ${program}: ${lines.join(' / ')}`];
}

function without(variables: Readonly<Record<string, string>>, names: ReadonlySet<string>): Record<string, string> {
  return Object.fromEntries(Object.entries(variables).filter(([name]) => !names.has(name)));
}

/** @param path the folder to create. What an earlier attempt left is removed. */
function makeBuildFolder(path: string, { files }: Pick<PackageList, 'files'>): BuildFolder {
  rmSync(path, { recursive: true, force: true });
  const folder = { lists: join(path, 'lists'), empty: join(path, 'empty') };
  for (const each of Object.values(folder)) mkdirSync(each, { recursive: true, mode: 0o700 });
  for (const file of files) {
    const copy = join(folder.lists, file.path);
    mkdirSync(dirname(copy), { recursive: true, mode: 0o700 });
    writeFileSync(copy, file.text, { mode: 0o400 });
  }
  for (const each of Object.values(folder)) chmodSync(each, 0o500);
  return folder;
}

/**
 * Links the packages of Node.js beside their lock file in the workspace, where Node.js looks for them, because it finds modules by
 * no variable.
 *
 * @param target the environment.
 * @returns what removes the link, so that it is no result of the job; undefined if the folder has its own `node_modules`.
 */
function linkNodeModules(
  workspace: string,
  { name }: Pick<PackageList, 'name'>,
  target: string,
): (() => void) | undefined {
  const link = join(workspace, dirname(name), MODULES);
  const modules = join(target, MODULES);
  if (lstatSync(link, { throwIfNoEntry: false }) !== undefined) return undefined;
  symlinkSync(modules, link, 'junction');
  return () => {
    if (isLinkTo(link, modules)) rmSync(link);
  };
}

/** False if the job replaced it. */
function isLinkTo(path: string, target: string): boolean {
  const isLink = lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true;
  return isLink && readlinkSync(path).replace(/[/\\]$/, '') === target;
}
