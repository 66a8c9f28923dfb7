import { readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { AppError } from '../core/errors.ts';
import type { StagedArchive, StagedEntry } from './extract.ts';
import { hashFile, type LocalFile, LocalFiles } from './localFile.ts';
import { Pace } from './pace.ts';
import type { ManifestEntry } from './pack.ts';
import { isProtectedPath } from './protectedNames.ts';
import { ResultTransaction } from './resultTransaction.ts';

export type ResultStatus =
  | 'new'
  | 'same'
  | 'changed' // the local file is still what was submitted
  | 'conflict' // the local file differs from both
  | 'protected'; // a name that other tools act on: written only when chosen by itself

export interface PlannedResult {
  readonly path: string;
  readonly size: number;
  readonly status: ResultStatus;
}

/** `keep-both` writes `name (job <label>).ext` beside the local file. */
export type ResultDecision = 'write' | 'keep-both' | 'skip';

export interface AppliedResults {
  /** Paths as written, after renaming by `keep-both`. */
  readonly written: readonly string[];
  readonly skipped: readonly string[];
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
  const pace = new Pace();
  const plan: Record<string, string | null> = Object.create(null) as Record<string, string | null>;
  const planned: PlannedResult[] = [];
  for (const entry of staged.entries) {
    if (pace.isDue) await pace.pause();
    const found = local.look(entry.path);
    if (found.type !== 'blocked') plan[entry.path] = found.type === 'none' ? null : found.mark;
    const compared = found.type === 'none' ? 'new' : await compare(folder, entry, found, submitted.get(entry.path));
    const status = compared !== 'same' && isProtectedPath(entry.path) ? 'protected' : compared;
    planned.push({ path: entry.path, size: entry.size, status });
  }
  await writeFile(planFile(staged), JSON.stringify(plan));
  return planned;
}

/**
 * Moves staged results into the folder. Paths without a decision are written when they are new and not protected,
 * else skipped. A file that appeared or changed since `planResults` is never overwritten. The staged files may be gone
 * afterwards; `discardStaged` removes the rest.
 *
 * @throws AppError `conflict` when the folder changed since the plan, `refused` when a folder on the way is a link or a
 * file, `no-space`, `permission`, or the signal's reason: what was written until then is taken back.
 */
export async function applyResults(
  staged: StagedArchive,
  folder: string,
  decisions: ReadonlyMap<string, ResultDecision>,
  { label, signal }: { label: string; signal?: AbortSignal },
): Promise<AppliedResults> {
  signal?.throwIfAborted();
  const plan = await readPlan(staged);
  const pace = new Pace(signal);
  const skipped: string[] = [];
  const transaction = new ResultTransaction(staged.staging, folder);
  try {
    for (const { path } of staged.entries) {
      if (pace.isDue) await pace.pause();
      const seen = plan[path];
      const decision = decisions.get(path) ?? (seen === null && !isProtectedPath(path) ? 'write' : 'skip');
      if (decision === 'skip') skipped.push(path);
      else if (decision === 'keep-both' && seen !== null) transaction.writeBeside(path, label);
      else if (seen === null || seen === undefined) transaction.writeNew(path);
      else transaction.replace(path, seen);
    }
    return { written: transaction.written, skipped };
  } catch (error) {
    throw transaction.rollBack(error);
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
