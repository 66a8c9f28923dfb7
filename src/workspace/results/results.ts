import { readFile, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { AppError } from '../../core/errors.ts';
import { parseOwnJson } from '../../core/jsonFields.ts';
import { safeLabel } from '../files/besideName.ts';
import { ASIDE_FOLDER } from '../select/exclusion.ts';
import type { StagedArchive } from '../extract/extract.ts';
import { writeFailure } from '../files/fileWriting.ts';
import { hashFile, haveSameContents, type LocalFile, LocalFiles, type Obstacle } from '../files/localFile.ts';
import { Yielder } from '../../core/processes/yielder.ts';
import type { ManifestEntry } from '../pack/pack.ts';
import { type PathRisk, riskOf } from './pathRisk.ts';
import { type MovedFile, ResultTransaction } from './resultTransaction.ts';

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
  /** For `review` and `protected`: the reason, and whether no local file has this path. */
  readonly review?: { readonly reason: PathRisk; readonly isNew: boolean };
}

/** `keep-both` writes `name (job <label>).ext` beside the local file; `set-aside` writes into a separate folder that tools ignore. */
export type ResultDecision = 'write' | 'keep-both' | 'set-aside' | 'skip';

interface SetAsideResult {
  readonly path: string;
  /** Its path in the folder. */
  readonly at: string;
}

export interface AppliedResults {
  /** Relative paths as written, with the new names of `keep-both`. */
  readonly written: readonly string[];
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
 * Compares staged results with the folder and with what was submitted. The state of the folder is stored beside the staged files, so
 * that `applyResults` notices changes, even in another process.
 */
export async function planResults(
  staged: StagedArchive,
  folder: string,
  manifest: readonly ManifestEntry[] = [],
): Promise<readonly PlannedResult[]> {
  const submitted = new Map(manifest.map(({ path, sha256 }) => [path, sha256]));
  const local = new LocalFiles(folder);
  const yielder = new Yielder();
  const plan = new Map<string, string | null>();
  const planned: PlannedResult[] = [];
  for (const entry of staged.entries) {
    if (yielder.isDue) await yielder.pause();
    const found = local.look(entry.path);
    if (found.type !== 'blocked') plan.set(entry.path, found.type === 'none' ? null : found.mark);
    const { path, size, name, twin } = entry;
    const isNew = found.type === 'none' && twin === undefined;
    const compared = isNew ? 'new' : await compare(staged, folder, { entry, found, submitted: submitted.get(path) });
    planned.push({
      path,
      size,
      ...judge(path, compared),
      ...(name !== undefined && { name }),
      ...(twin !== undefined && { twin }),
      ...(found.type === 'blocked' && { obstacle: found.by }),
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
  using transaction = open(staged, folder, label);
  const replaced = new Set(
    staged.entries.flatMap(({ path, twin }) => (twin !== undefined && decisions.get(path) === 'write' ? twin : [])),
  );
  for (const { path, sha256, twin } of staged.entries) {
    if (yielder.isDue) await yielder.pause();
    const seen = plan.get(path);
    const isNew = seen === null && twin === undefined && riskOf(path) === undefined;
    const decision = replaced.has(path) ? 'skip' : (decisions.get(path) ?? (isNew ? 'write' : 'skip'));
    if (decision === 'skip') skipped.push(path);
    else if (decision === 'set-aside') {
      const target = `${ASIDE_FOLDER}/${label}/${path}`;
      const isThere = transaction.has(target) && (await hashFile(folder, target).catch(() => '')) === sha256;
      setAside.push({ path, at: isThere ? target : transaction.setAside(path, target) });
    } else if (decision === 'keep-both' && seen !== null) {
      if (await isBeside(folder, { path, sha256 }, transaction)) skipped.push(path);
      else transaction.writeBeside(path);
    } else {
      // A twin takes the place of the result with the same name, which is not written then.
      const target = decision === 'write' ? (twin ?? path) : path;
      const found = plan.get(target);
      if (found === null) transaction.writeNew(path, target);
      else if (found === undefined) transaction.writeInPlace(path, target);
      else transaction.replace(path, { mark: found, target });
    }
  }
  await transaction.commit(journal, yielder);
  const aside = new Set(setAside.map(({ at }) => at));
  const written = transaction.written.filter((path) => !aside.has(path));
  return { written, skipped, setAside, moved: transaction.moved };
}

/** Whether an earlier download of the job has written these contents beside the local file. */
async function isBeside(
  folder: string,
  { path, sha256 }: Pick<ManifestEntry, 'path' | 'sha256'>,
  transaction: ResultTransaction,
): Promise<boolean> {
  for (const beside of transaction.writtenBeside(path)) {
    if ((await hashFile(folder, beside).catch(() => '')) === sha256) return true;
  }
  return false;
}

function open({ staging }: StagedArchive, folder: string, label: string): ResultTransaction {
  try {
    return new ResultTransaction(folder, basename(dirname(staging)), label);
  } catch (error) {
    throw writeFailure(error, folder);
  }
}

async function compare(
  { staging }: StagedArchive,
  folder: string,
  {
    entry: { path, size, sha256 },
    found,
    submitted,
  }: { readonly entry: ManifestEntry; readonly found: LocalFile; readonly submitted: string | undefined },
): Promise<'same' | 'changed' | 'conflict'> {
  if (found.type !== 'file' || (found.size !== size && submitted === undefined)) return 'conflict';
  // A file that cannot be read cannot be compared, so the user decides.
  if (submitted === undefined) {
    // Ends at the first difference, where a hash would need the rest.
    return (await haveSameContents(staging, folder, path).catch(() => false)) ? 'same' : 'conflict';
  }
  const current = await hashFile(folder, path).catch(() => undefined);
  if (current === sha256) return 'same';
  return current !== undefined && current === submitted ? 'changed' : 'conflict';
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
