import { lstat } from 'node:fs/promises';
import { join } from 'node:path';
import { normalize } from 'node:path/posix';
import * as l10n from '@vscode/l10n';
import { readNotebookCells } from '../../core/text/notebookCells.ts';
import { isNotebookFile } from '../../workspace/scripts/scriptKinds.ts';
import { printableLine } from '../../core/text/printable.ts';
import { findPackageLists } from '../../workspace/environments/foundPackages.ts';
import { readStart } from '../../workspace/files/boundedRead.ts';
import type { Exclusion, ExclusionReason, SelectedFile, Selection } from '../../workspace/select/selection.ts';
import { describeExclusion } from './exclusions.ts';
import type { JobFinding } from './jobFinding.ts';
import { isMachinePath, placeOfMachinePath } from './machinePaths.ts';
import { commandFile } from './commandFile.ts';
import { findProblem, scriptPath, type StartedProgram } from './script.ts';
import { guessReads, type PathRead } from './sourceReads.ts';
import { type PackageReview, reviewPackages } from './packageReview.ts';
import { lineEndFindings, readScriptHead, type ScriptHead } from './scriptHead.ts';

const MAX_SOURCES = 50;
const MAX_SOURCE_BYTES = 256 * 1024;
/** With its outputs, which are most of a notebook. */
const MAX_NOTEBOOK_BYTES = 16 * 1024 * 1024;
const MAX_READS = 5;
const MAX_PATH_CHARACTERS = 300;
// No program reads these on purpose, and installed packages are found elsewhere.
const NEVER_READ: ReadonlySet<ExclusionReason> = new Set(['git', 'cache', 'venv', 'name', 'special']);

/** The file of the folder that a job starts with; undefined if a command runs none, or that is not known. */
export function startedFile(
  { files }: Pick<Selection, 'files'>,
  { script, command }: StartedProgram,
): string | undefined {
  if (command === undefined) return scriptPath(script);
  const { paths = [] } = commandFile(command) ?? {};
  return paths.find((path) => files.some((file) => file.path === path));
}

/**
 * Checks that the files to send contain what the job runs, and guesses from its source, and from the code it imports, whether it reads files
 * that are left out or outside of the folder, or by absolute paths. At most 50 files are read, 256 KiB of each.
 */
export async function reviewScript(selection: Selection, job: StartedProgram): Promise<readonly JobFinding[]> {
  const { command } = job;
  const problem = findProblem(selection, job);
  if (problem !== undefined)
    return [{ type: command === undefined ? 'script' : 'command', severity: 'error', ...problem }];
  const excluded = selection.excluded.filter(({ reason }) => !NEVER_READ.has(reason));
  const words = command === undefined ? [] : await findNamed(selection, excluded, command);
  const main = startedFile(selection, job);
  const reads = main === undefined ? [] : await findReads(selection, excluded, main);
  return [...words, ...reads].slice(0, MAX_READS);
}

/** The files that the arguments of a command name, and that are not sent. */
async function findNamed(
  { root, files }: Selection,
  excluded: readonly Exclusion[],
  [, ...args]: readonly string[],
): Promise<readonly JobFinding[]> {
  const rules = new Map(excluded.map((exclusion) => [exclusion.path, exclusion]));
  const findings = new Map<string, JobFinding>();
  for (const word of args) {
    // As in `--data=a.csv` and `data=a.csv`.
    const path = word.slice(word.indexOf('=') + 1);
    if (path.length > MAX_PATH_CHARACTERS || findings.has(path)) continue;
    if (isMachinePath(path)) {
      const place = await placeOfMachinePath(root, path);
      if (place === undefined) continue;
      const isSent = place === '' || (place !== null && isAmong(files, place));
      findings.set(path, {
        type: 'absolute-path',
        severity: 'warning',
        summary: printableLine(l10n.t('The command names {0}, a path on this machine', path)),
        detail: printableLine(whereOnOtherMachine(isSent ? place : null)),
      });
      continue;
    }
    const leftOut = await findLeftOut(root, rules, {
      line: 0,
      isImport: false,
      paths: [normalize(path).replace(/\/$/, '')],
    });
    if (leftOut === undefined) continue;
    findings.set(path, {
      type: 'left-out-read',
      severity: 'warning',
      summary: printableLine(l10n.t('The command names {0}, which is left out', path)),
      detail: printableLine(
        `${l10n.t('Reason: {0}.', describeExclusion(leftOut.exclusion))} ${remedyOf(leftOut.exclusion)}`,
      ),
    });
  }
  return [...findings.values()];
}

/** What a file that is sent seems to read. */
interface Guess {
  readonly reader: string;
  /** From which of its lines or cells this is guessed, as a sentence. */
  readonly where: string;
  readonly path: string;
}

async function findReads(
  selection: Selection,
  excluded: readonly Exclusion[],
  script: string,
): Promise<readonly JobFinding[]> {
  const files = new Map(selection.files.map((file) => [file.path, file]));
  const rules = new Map(excluded.map((exclusion) => [exclusion.path, exclusion]));
  const findings = new Map<string, JobFinding>();
  // Only the first guess about a path counts.
  const add = (path: string, finding: JobFinding): void => void (findings.has(path) || findings.set(path, finding));
  // Grows while it is read: the code that each file imports.
  const sources = new Set([script]);
  for (const reader of sources) {
    const file = files.get(reader);
    if (file === undefined) continue;
    for (const { read, where } of guessReadsOf(await readSource(selection.root, file), reader, script)) {
      const { absolute } = read;
      if (absolute !== undefined) {
        const place = await placeOfMachinePath(selection.root, absolute);
        if (place === undefined) continue;
        const isSent = place === '' || (place !== null && isAmong(selection.files, place));
        add(absolute, describeMachinePath({ reader, where, path: absolute }, isSent ? place : null));
        continue;
      }
      const sentPath = read.paths.find((path) => files.has(path));
      if (sentPath !== undefined) {
        if (read.isImport && sources.size < MAX_SOURCES) sources.add(sentPath);
        continue;
      }
      const leftOut = await findLeftOut(selection.root, rules, read);
      const path = leftOut?.path ?? (await findOutside(selection.root, read));
      if (path !== undefined) add(path, describeRead({ reader, where, path }, leftOut?.exclusion));
    }
  }
  return [...findings.values()];
}

/** Whether a file, or a folder with some, is sent. */
function isAmong(files: readonly SelectedFile[], place: string): boolean {
  return files.some(({ path }) => path === place || path.startsWith(`${place}/`));
}

async function findLeftOut(
  root: string,
  rules: ReadonlyMap<string, Exclusion>,
  { paths }: PathRead,
): Promise<{ readonly path: string; readonly exclusion: Exclusion } | undefined> {
  for (const path of paths) {
    const exclusion = ruleOf(rules, path); // none for a path outside of the folder
    if (exclusion === undefined) continue;
    if (exclusion.path === path || (await isThere(root, path))) return { path, exclusion };
  }
  return undefined;
}

/** A file beside or above the folder. */
async function findOutside(root: string, { paths }: PathRead): Promise<string | undefined> {
  for (const path of paths) if (path.startsWith('../') && (await isThere(root, path))) return path;
  return undefined;
}

async function isThere(root: string, path: string): Promise<boolean> {
  return (await lstat(join(root, path)).catch(() => undefined)) !== undefined;
}

/** The exclusion of a path, or of a folder that contains it. */
function ruleOf(rules: ReadonlyMap<string, Exclusion>, path: string): Exclusion | undefined {
  for (let end = path.length; end > 0; end = path.lastIndexOf('/', end - 1)) {
    const exclusion = rules.get(path.slice(0, end));
    if (exclusion !== undefined) return exclusion;
  }
  return undefined;
}

/** @param exclusion why the file is left out; undefined if it is outside of the folder. */
function describeRead({ reader, where, path }: Guess, exclusion: Exclusion | undefined): JobFinding {
  if (exclusion === undefined) {
    return {
      type: 'outside-read',
      severity: 'warning',
      summary: printableLine(l10n.t('{0} may read {1}, which is outside of the folder', reader, path)),
      detail: `${l10n.t('It is not sent.')} ${where} ${l10n.t('Copy it into the folder if the job needs it.')}`,
    };
  }
  const reason = l10n.t('Reason: {0}.', describeExclusion(exclusion));
  return {
    type: 'left-out-read',
    severity: 'warning',
    summary: printableLine(l10n.t('{0} may read {1}, which is left out', reader, path)),
    detail: printableLine(`${reason} ${where} ${remedyOf(exclusion)}`),
  };
}

function remedyOf({ reason }: Exclusion): string {
  return reason === 'secret'
    ? l10n.t('Secrets are not sent unless you include them.')
    : l10n.t('Include the file if the job needs it.');
}

/** @param place where the path is in the folder; null if it is not sent. */
function describeMachinePath({ reader, where, path }: Guess, place: string | null): JobFinding {
  return {
    type: 'absolute-path',
    severity: 'warning',
    summary: printableLine(l10n.t('{0} may read {1}, a path on this machine', reader, path)),
    detail: printableLine(`${whereOnOtherMachine(place)} ${where}`),
  };
}

function whereOnOtherMachine(place: string | null): string {
  if (place === null) return l10n.t('It is not sent, so a job on another machine does not have it.');
  if (place === '') return l10n.t('In a job on another machine, the folder has another path.');
  return l10n.t('In a job on another machine, its path is {0}.', place);
}

async function readSource(root: string, { path, source }: SelectedFile): Promise<string> {
  const limit = isNotebookFile(path) ? MAX_NOTEBOOK_BYTES : MAX_SOURCE_BYTES;
  // Packing reports files that cannot be read.
  return (await readStart(source ?? join(root, path), limit))?.toString('utf8') ?? '';
}

/** What a program seems to read, and from which line that is guessed; of a notebook, from which cell with code. */
function guessReadsOf(
  text: string,
  path: string,
  main: string,
): readonly { readonly read: PathRead; readonly where: string }[] {
  if (!isNotebookFile(path)) {
    const reads = guessReads(text, path, main);
    return reads.map((read) => ({ read, where: l10n.t('This is a guess from line {0}.', read.line) }));
  }
  return codeOf(text, path).flatMap((source, index) => {
    const where = l10n.t('This is a guess from cell {0}.', index + 1);
    return guessReads(source, path, main).map((read) => ({ read, where }));
  });
}

/** The cells that run, in their order. Empty for what is no notebook, or is larger than what was read: the job says so. */
function codeOf(text: string, path: string): readonly string[] {
  try {
    const cells = readNotebookCells(text, path);
    return cells.flatMap(({ isCode, source }) => (isCode && source.trim() !== '' ? [source] : []));
  } catch {
    return [];
  }
}

/** What a job runs and installs. */
export interface ReviewedJob extends StartedProgram {
  readonly venv?: Readonly<Record<string, unknown>> | undefined;
}

/** What is known about a job from the files to send. */
export interface JobReview {
  /** What is wrong with the script, or with the files it seems to read. */
  readonly findings: readonly JobFinding[];
  /** What it installs, and what is wrong with that, for a service that installs packages as ours does. */
  readonly packages: PackageReview;
  /** Files of the folder that list packages, the ones to offer first at the start. */
  readonly packageLists: readonly string[];
  /** Undefined for a command, and if the script is not among the files. */
  readonly start: ScriptHead | undefined;
}

/** Compares a job with the files to send. */
export async function reviewJob(selection: Selection, job: ReviewedJob): Promise<JobReview> {
  const file = startedFile(selection, job);
  const [findings, packages, packageLists, head] = await Promise.all([
    reviewScript(selection, job),
    reviewPackages(selection, job.venv),
    findPackageLists(selection, file ?? ''),
    readScriptHead(selection, file),
  ]);
  // A command names its program itself.
  const start = job.command === undefined ? head : undefined;
  return { findings: [...findings, ...(head ? lineEndFindings(head) : [])], packages, packageLists, start };
}
