import { readFile, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { AppError } from '../../core/errors.ts';
import { safeLabel } from '../files/besideName.ts';
import { ASIDE_FOLDER } from '../select/exclusion.ts';
import type { StagedArchive, StagedEntry } from '../extract/extract.ts';
import { writeFailure } from '../files/fileWriting.ts';
import { hashFile, type LocalFile, LocalFiles } from '../files/localFile.ts';
import { Yielder } from '../../core/processes/yielder.ts';
import type { ManifestEntry } from '../pack/pack.ts';
import { type PathRisk, riskOf } from './pathRisk.ts';
import { ResultTransaction } from './resultTransaction.ts';

export type ResultStatus =
  | 'new'
  | 'same'
  | 'changed' // the local file is still what was submitted
  | 'conflict' // the local file differs from both
  | 'review' // it may change what tools do or what is sent next: written only when chosen by itself
  | 'protected'; // a name that git, the editor or a shell act on at once: the same, and never set aside

export interface PlannedResult {
  readonly path: string;
  readonly size: number;
  readonly status: ResultStatus;
  /** Of the status `review` or `protected`: why, and whether nothing stands at its path. */
  readonly review?: { readonly reason: PathRisk; readonly isNew: boolean };
}

/** `keep-both` writes `name (job <label>).ext` beside the local file; `set-aside` writes into a folder for such results, where no tool looks. */
export type ResultDecision = 'write' | 'keep-both' | 'set-aside' | 'skip';

export interface SetAsideResult {
  readonly path: string;
  /** Where it is, relative to the folder. */
  readonly at: string;
}

export interface AppliedResults {
  /** Paths as written, after renaming by `keep-both`. */
  readonly written: readonly string[];
  readonly skipped: readonly string[];
  readonly setAside: readonly SetAsideResult[];
}

export interface ApplyOptions {
  /** Of the job, for names. */
  readonly label: string;
  readonly journal: string;
  readonly signal?: AbortSignal;
}

/** What a person saw when deciding: by path, the mark of the local file, or null where there was none. */
type Plan = Readonly<Record<string, string | null>>;

/**
 * Compares staged results with the folder and with what was submitted. What was seen is noted beside the staged files,
 * so that `applyResults` notices when the folder changes meanwhile, in another process too.
 */
export async function planResults(
  staged: StagedArchive,
  folder: string,
  manifest: readonly ManifestEntry[] = [],
): Promise<readonly PlannedResult[]> {
  const submitted = new Map(manifest.map(({ path, sha256 }) => [path, sha256]));
  const local = new LocalFiles(folder);
  const yielder = new Yielder();
  const plan: Record<string, string | null> = Object.create(null) as Record<string, string | null>;
  const planned: PlannedResult[] = [];
  for (const entry of staged.entries) {
    if (yielder.isDue) await yielder.pause();
    const found = local.look(entry.path);
    if (found.type !== 'blocked') plan[entry.path] = found.type === 'none' ? null : found.mark;
    const compared = found.type === 'none' ? 'new' : await compare(folder, entry, found, submitted.get(entry.path));
    planned.push({ path: entry.path, size: entry.size, ...judge(entry.path, compared) });
  }
  await writeFile(planFile(staged), JSON.stringify(plan));
  return planned;
}

/**
 * Writes staged results into the folder, all that is decided or nothing. Paths without a decision are written when they are new and
 * nothing acts on their names, else skipped. A file that appeared or changed since `planResults` is never overwritten. `discardStaged`
 * removes the staged files afterwards.
 *
 * @param options.journal a file outside the folder that has what is done, while it is done: `recoverResults` takes it back when this
 * process is killed.
 * @throws AppError `conflict` when the folder changed since the plan, `refused` when a folder on the way is a link or a
 * file, `no-space`, `permission`, or the signal's reason: what was written until then is taken back.
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
  for (const { path, sha256 } of staged.entries) {
    if (yielder.isDue) await yielder.pause();
    const seen = plan[path];
    const decision = decisions.get(path) ?? (seen === null && riskOf(path) === undefined ? 'write' : 'skip');
    if (decision === 'skip') skipped.push(path);
    else if (decision === 'set-aside') {
      const target = `${ASIDE_FOLDER}/${label}/${path}`;
      const isThere = transaction.has(target) && (await hashFile(folder, target).catch(() => '')) === sha256;
      setAside.push({ path, at: isThere ? target : transaction.setAside(path, target) });
    } else if (decision === 'keep-both' && seen !== null) transaction.writeBeside(path);
    else if (seen === null || seen === undefined) transaction.writeNew(path);
    else transaction.replace(path, seen);
  }
  await transaction.commit(journal, yielder);
  const aside = new Set(setAside.map(({ at }) => at));
  return { written: transaction.written.filter((path) => !aside.has(path)), skipped, setAside };
}

function open({ staging }: StagedArchive, folder: string, label: string): ResultTransaction {
  try {
    return new ResultTransaction(folder, basename(dirname(staging)), label);
  } catch (error) {
    throw writeFailure(error, folder);
  }
}

async function compare(
  folder: string,
  { path, size, sha256 }: StagedEntry,
  found: Exclude<LocalFile, { type: 'none' }>,
  submitted: string | undefined,
): Promise<'same' | 'changed' | 'conflict'> {
  if (found.type !== 'file' || (found.size !== size && submitted === undefined)) return 'conflict';
  // A file that cannot be read now is one that nobody can compare: the person decides.
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
  return Object.assign(Object.create(null), JSON.parse(text)) as Plan;
}
