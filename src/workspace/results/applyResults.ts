import { randomUUID } from 'node:crypto';
import { lstat, readFile, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { AppError } from '../../core/errors.ts';
import { parseOwnJson } from '../../core/jsonFields.ts';
import { ASIDE_FOLDER } from '../select/exclusion.ts';
import type { StagedArchive, StagedFile } from '../extract/extract.ts';
import { readBounded } from '../files/boundedRead.ts';
import { writeFailure } from '../files/fileWriting.ts';
import { hashFile, haveSameContents, type LocalFile, LocalFiles, type Obstacle } from '../files/localFile.ts';
import { Yielder } from '../../core/processes/yielder.ts';
import { type MergedNotebook, mergeNotebooks } from '../notebooks/mergeNotebooks.ts';
import type { ManifestEntry } from '../pack/pack.ts';
import { type MovedFile, ResultTransaction } from './resultTransaction.ts';
import { foldName, safeLabel } from '../files/nameRules.ts';
import { isProtectedPath } from './protectedNames.ts';

// Names that tools act on automatically when a folder is opened in an editor or entered in a shell. Most such files are hidden, and
// `pathRisk.ts` catches all hidden names, so this list is the last line of defence. A name belongs here if
//   1. a widely used tool runs it, runs a file that it names, or reads instructions from it, because the folder was opened or entered or
//      because any program of that tool was started in it (not by a command that names the file), and
//   2. the tool's own documentation says so.
// Review the list for each release, and whenever an advisory names another file.

const NAMES = new Set(
  [
    // Coding agents read instructions (developers.openai.com/codex: AGENTS.md; docs.claude.com: memory; docs.warp.dev: rules).
    'agents.md agents.override.md claude.md claude.local.md gemini.md skill.md warp.md',
    // Python: at startup, or when an editor searches for tests and environments (docs.pytest.org: Configuration file formats).
    'sitecustomize.py usercustomize.py conftest.py pytest.toml pytest.ini tox.ini setup.cfg pyproject.toml pyvenv.cfg ipython_config.py ansible.cfg',
    // JavaScript: language servers load plug-ins and presets, and editors run the file to list tasks.
    'package.json tsconfig.json jsconfig.json nx.json angular.json bunfig.toml',
    // Names hooks that pnpm loads for every command (pnpm.io: Settings, Config dependencies).
    'pnpm-workspace.yaml',
    // Build files that language servers and editors configure or run when a folder is opened.
    'makefile gnumakefile cmakelists.txt cmakepresets.json cmakeuserpresets.json meson.build platformio.ini module.bazel',
    'cargo.toml build.rs rust-toolchain rust-toolchain.toml build.zig package.swift gemfile mix.exs stack.yaml cabal.project hie.yaml',
    'pom.xml settings.gradle build.gradle settings.gradle.kts build.gradle.kts gradle.properties',
    'gradle-wrapper.properties gradle-wrapper.jar maven-wrapper.properties',
    'global.json nuget.config directory.build.props directory.build.targets directory.build.rsp omnisharp.json',
    // MSBuild imports it into each project below its folder, like the files above.
    'directory.packages.props',
    // Shells, file managers and MATLAB, when they enter the folder.
    'mise.toml desktop.ini autorun.inf startup.m',
  ].flatMap((line) => line.split(' ')),
);

const PATTERNS: readonly RegExp[] = [
  /^lefthook(?:-local)?\.(?:ya?ml|toml|jsonc?)$/, // read whenever git runs a hook (lefthook.dev: Configuration, lefthook install)
  /\.config\.[cm]?[jt]s$/, // eslint.config.mjs, vite.config.ts, …: extensions run them when a folder is opened
  /^(?:gulpfile|gruntfile|jakefile)(?:\.|$)/,
  /^tsconfig\..+\.json$/,
  /^mise\..+\.toml$/,
  /^jupyter.*_config\.(?:py|json)$/, // read from the working folder
  /\.(?:cs|fs|vb|vcx)proj$|\.slnx?$|\.cabal$/,
  /\.(?:lnk|scf|url|library-ms|searchconnector-ms)$/, // showing the folder makes Windows contact another machine
];

/** Folders from which tools load code by name. */
const FOLDERS = new Set(['node_modules', 'conda-meta', 'site-packages']);
const SELECTION = new Set(['.farwharfignore', '.gitignore']);

// The short names that Windows creates for long names, including hidden ones.
const SHORT_NAME = /^[^.]{1,6}~\d+(?:\..{0,3})?$/;

// Most paths. They are unambiguous on every file system, so a cheap check is enough.
const PLAIN = /^(?:[\w-](?:[\w.-]*[\w-])?\/)*[\w-](?:[\w.-]*[\w-])?$/;

// Merging holds both versions in memory several times.
const MAX_NOTEBOOK_BYTES = 64 * 1024 * 1024;

export type ResultStatus =
  | 'new'
  | 'same'
  | 'changed' // the local file is still what was submitted
  | 'conflict' // the local file differs from both
  | 'review' // it may change what tools do or what the next submit sends: written only if selected individually
  | 'protected'; // git, the editor or a shell acts on the name immediately: like `review`, but never set aside

export interface PlannedResult {
  readonly path: string;
  /** Its path in the job, if that is not a valid one here, or the name of another result. */
  readonly name?: string;
  readonly size: number;
  readonly status: ResultStatus;
  /** For a `conflict`: the other result that has the same name on this file system. Only one of them can be written to it. */
  readonly twin?: string;
  /** For a `conflict`: what is in the way, such as a folder in place of the file. It is moved aside if the result is written. */
  readonly obstacle?: Obstacle;
  /** For a notebook that was `changed` or is a `conflict`: how many of its outputs a `merge` would mark as older. */
  readonly merge?: { readonly olderOutputs: number };
  /** For `review` and `protected`: the reason, and whether no local file has this path. */
  readonly review?: { readonly reason: PathRisk; readonly isNew: boolean };
}

/**
 * `keep-both` writes `name (job <label>).ext` beside the local file; `merge` puts the outputs of a notebook into the local one; `set-aside`
 * writes into a separate folder that tools ignore.
 */
export type ResultDecision = 'write' | 'keep-both' | 'merge' | 'set-aside' | 'skip';

interface SetAsideResult {
  readonly path: string;
  /** Its path in the folder. */
  readonly at: string;
}

export interface AppliedResults {
  /** Relative paths as written, with the new names of `keep-both`. */
  readonly written: readonly string[];
  /** Those of them whose outputs were put into the local notebook. */
  readonly merged: readonly string[];
  readonly skipped: readonly string[];
  readonly setAside: readonly SetAsideResult[];
  /** Local files and folders that were in the way of results, with the names that they have now. */
  readonly moved: readonly MovedFile[];
}

export interface ApplyOptions {
  /** The job, for file names. */
  readonly label: string;
  readonly journal: string;
  readonly signal?: AbortSignal;
}

/** The state that the decisions are based on: the mark of each local file by path, or null if it did not exist. */
type Plan = ReadonlyMap<string, string | null>;

/**
 * Why a result is never written together with the others: git, the editor or a shell acts on a `protected` name immediately;
 * `selection` changes what the next submit sends; a `hidden` name starts with a dot; a tool reads or runs a `tool` file when its folder
 * is opened.
 */
type PathRisk = 'protected' | 'selection' | 'hidden' | 'tool';

export interface PlanOptions {
  readonly submitted?: readonly ManifestEntry[] | undefined;
  /** The path of the notebook that the job ran. Only its outputs can be merged: other results that are notebooks may have new sources. */
  readonly notebook?: string | undefined;
}

/**
 * Compares staged results with the folder and with what was submitted. The state of the folder is stored beside the staged files, so
 * that `applyResults` notices changes, even in another process.
 */
export async function planResults(
  staged: StagedArchive,
  folder: string,
  { submitted: manifest = [], notebook }: PlanOptions = {},
): Promise<readonly PlannedResult[]> {
  const submitted = new Map(manifest.map(({ path, sha256 }) => [path, sha256]));
  const local = new LocalFiles(folder);
  const yielder = new Yielder();
  const plan = new Map<string, string | null>();
  const planned: PlannedResult[] = [];
  for (const entry of staged.entries) {
    if (yielder.isDue) await yielder.pause();
    const present = local.look(entry.path);
    if (present.type !== 'blocked') plan.set(entry.path, present.type === 'none' ? null : present.mark);
    const { path, size, name, twin } = entry;
    const isNew = present.type === 'none' && twin === undefined;
    const compared = isNew
      ? 'new'
      : await compare(staged, folder, { entry, found: present, submitted: submitted.get(path) });
    planned.push({
      path,
      size,
      ...judge(path, compared),
      ...(path === notebook && present.type === 'file' && (await mergeOf(staged, folder, path, compared))),
      ...(name !== undefined && { name }),
      ...(twin !== undefined && { twin }),
      ...(present.type === 'blocked' && { obstacle: present.by }),
    });
  }
  await writeFile(planFile(staged), JSON.stringify([...plan]));
  return planned;
}

/**
 * Writes staged results into the folder, completely or not at all. Paths without a decision are written if they are new and have no
 * risk, otherwise skipped. A file that appeared or changed since `planResults` is never overwritten. Call `discardStaged` afterwards.
 *
 * @param options.journal a file outside the folder that lists the changes meanwhile, so that `recoverResults` can undo them if this
 * process is killed.
 * @throws AppError `conflict` if the folder changed since the plan, `refused` if a parent folder is a link or a file, `no-space`,
 * `permission`, or the signal's reason. Everything is then undone.
 */
export async function applyResults(
  staged: StagedArchive,
  folder: string,
  decisions: ReadonlyMap<string, ResultDecision>,
  { label: job, journal, signal }: ApplyOptions,
): Promise<AppliedResults> {
  signal?.throwIfAborted();
  const plan = await readPlan(staged);
  const yielder = new Yielder(signal);
  const label = safeLabel(job);
  const skipped: string[] = [];
  const setAside: SetAsideResult[] = [];
  const merged: string[] = [];
  using transaction = open(staged, folder, label);
  const replaced = new Set(
    staged.entries.flatMap(({ path, twin }) => (twin !== undefined && decisions.get(path) === 'write' ? twin : [])),
  );
  for (const { path, twin } of staged.entries) {
    if (yielder.isDue) await yielder.pause();
    const seen = plan.get(path);
    const isNew = seen === null && twin === undefined && riskOf(path) === undefined;
    const decision = replaced.has(path) ? 'skip' : (decisions.get(path) ?? (isNew ? 'write' : 'skip'));
    if (decision === 'skip') skipped.push(path);
    else if (decision === 'set-aside') {
      const target = `${ASIDE_FOLDER}/${label}/${path}`;
      const isThere = transaction.has(target) && (await isStaged(staged, path, join(folder, target)));
      setAside.push({ path, at: isThere ? target : transaction.setAside(path, target) });
    } else if (decision === 'merge' && typeof seen === 'string') {
      transaction.replace(await stageMerged(staged, folder, path), { mark: seen, target: path });
      merged.push(path);
    } else if (decision === 'keep-both' && seen !== null) {
      if (await isBeside(staged, path, { folder, transaction })) skipped.push(path);
      else transaction.writeBeside(path);
    } else {
      // A twin takes the place of the result with the same name, which is not written then.
      const target = decision === 'write' ? (twin ?? path) : path;
      const collision = plan.get(target);
      if (collision === null) transaction.writeNew(path, target);
      else if (collision === undefined) transaction.writeInPlace(path, target);
      else transaction.replace(path, { mark: collision, target });
    }
  }
  await transaction.commit(journal, yielder);
  const aside = new Set(setAside.map(({ at }) => at));
  const writtenPaths = transaction.written.filter((path) => !aside.has(path));
  return { written: writtenPaths, merged, skipped, setAside, moved: transaction.moved };
}

/** Whether an earlier download of the job has written these contents beside the local file. */
async function isBeside(
  staged: StagedArchive,
  path: string,
  { folder, transaction }: { readonly folder: string; readonly transaction: ResultTransaction },
): Promise<boolean> {
  for (const beside of transaction.writtenBeside(path)) {
    if (await isStaged(staged, path, join(folder, beside))) return true;
  }
  return false;
}

/** Whether a local file has the contents of a staged one. One that cannot be read counts as different. */
async function isStaged({ staging }: StagedArchive, path: string, local: string): Promise<boolean> {
  return haveSameContents(join(staging, path), local).catch(() => false);
}

function open({ staging }: StagedArchive, folder: string, label: string): ResultTransaction {
  try {
    return new ResultTransaction(folder, basename(dirname(staging)), label);
  } catch (error) {
    throw writeFailure(error, folder);
  }
}

async function compare(
  staged: StagedArchive,
  folder: string,
  {
    entry: { path, size },
    found,
    submitted,
  }: { readonly entry: StagedFile; readonly found: LocalFile; readonly submitted: string | undefined },
): Promise<'same' | 'changed' | 'conflict'> {
  if (found.type !== 'file') return 'conflict';
  if (found.size === size && (await isStaged(staged, path, join(folder, path)))) return 'same';
  if (submitted === undefined) return 'conflict';
  // A file that cannot be read cannot be compared, so the user decides.
  const current = await hashFile(folder, path).catch(() => undefined);
  return current === submitted ? 'changed' : 'conflict';
}

function judge(
  path: string,
  compared: 'new' | 'same' | 'changed' | 'conflict',
): Pick<PlannedResult, 'status' | 'review'> {
  const risk = compared === 'same' ? undefined : riskOf(path);
  if (risk === undefined) return { status: compared };
  const review = { reason: risk, isNew: compared === 'new' };
  return { status: risk === 'protected' ? risk : 'review', review };
}

async function mergeOf(
  staged: StagedArchive,
  folder: string,
  path: string,
  compared: 'new' | 'same' | 'changed' | 'conflict',
): Promise<Pick<PlannedResult, 'status' | 'merge'> | undefined> {
  if (riskOf(path) !== undefined || (compared !== 'changed' && compared !== 'conflict')) return undefined;
  const merged = await mergeResult(staged, folder, path);
  if (merged === undefined) return undefined;
  return merged.isSame ? { status: 'same' } : { status: compared, merge: { olderOutputs: merged.olderOutputs } };
}

/** Writes the merged notebook beside the staged files. Returns its path there. */
async function stageMerged(staged: StagedArchive, folder: string, path: string): Promise<string> {
  const merged = await mergeResult(staged, folder, path);
  if (merged === undefined)
    throw new AppError(
      'conflict',
      `${path} is no longer a notebook that can be merged, so nothing was written. Compare again.`,
    );
  const name = `merged-${randomUUID()}.ipynb`;
  await writeFile(join(staged.staging, name), merged.text, { mode: merged.mode });
  return name;
}

/** Undefined for files that are not notebooks, or too large ones. */
async function mergeResult(
  { staging }: StagedArchive,
  folder: string,
  path: string,
): Promise<(MergedNotebook & { readonly isSame: boolean; readonly mode: number }) | undefined> {
  const [local, result] = [await readNotebook(join(folder, path)), await readNotebook(join(staging, path))];
  const merged = local && result && mergeNotebooks(local.text, result.text);
  return merged && { ...merged, isSame: merged.text === local.text, mode: local.mode };
}

async function readNotebook(file: string): Promise<{ readonly text: string; readonly mode: number } | undefined> {
  const stats = await lstat(file).catch(() => undefined);
  if (stats?.isFile() !== true) return undefined;
  const bytes = await readBounded(file, MAX_NOTEBOOK_BYTES);
  return bytes && { text: bytes.toString('utf8'), mode: stats.mode & 0o777 };
}

function planFile({ staging }: StagedArchive): string {
  return join(dirname(staging), 'plan.json');
}

async function readPlan(staged: StagedArchive): Promise<Plan> {
  const text = await readFile(planFile(staged), 'utf8').catch((error: unknown) => {
    throw new AppError('missing', 'The results were not compared with the folder yet, so nothing was written.', {
      cause: error,
    });
  });
  return new Map(parseOwnJson<[string, string | null][]>(text));
}

/** The risk of a path; undefined if there is none. Recognizes every spelling that some file system treats as the same name. */
export function riskOf(path: string): PathRisk | undefined {
  if (PLAIN.test(path)) {
    const name = path.toLowerCase();
    if (name.endsWith('.code-workspace')) return 'protected';
    return isToolFile(name.split('/')) ? 'tool' : undefined;
  }
  if (isProtectedPath(path)) return 'protected';
  const names = path.split('/').map((name) => foldName(name.replace(/:.*$/s, '')));
  const last = names.at(-1) ?? '';
  if (SELECTION.has(last)) return 'selection';
  if (names.some((name) => name.startsWith('.') || SHORT_NAME.test(name))) return 'hidden';
  return isToolFile(names) ? 'tool' : undefined;
}

/** Whether tools act on a file automatically. `names` are the parts of its path, converted by `foldName`. */
function isToolFile(names: readonly string[]): boolean {
  const last = names.at(-1) ?? '';
  return NAMES.has(last) || PATTERNS.some((pattern) => pattern.test(last)) || names.some((name) => FOLDERS.has(name));
}
