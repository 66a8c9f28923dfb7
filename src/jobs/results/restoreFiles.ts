import { stat } from 'node:fs/promises';
import { AppError, systemCode } from '../../core/errors.ts';
import type { PlannedResult, ResultDecision } from '../../workspace/results/applyResults.ts';
import { ArchiveStore } from '../archives/archives.ts';
import type { JobRecord } from '../ledger/record.ts';
import { type Decisions, type DownloadedResults, type PlaceOptions, type PlaceDeps, placeFiles } from './placeFiles.ts';

export interface RestoreChoice {
  /** Files and folders to restore; everything if empty. */
  readonly paths: readonly string[];
  /** What happens to a local file that differs: the submitted one is written beside it, replaces it, or is skipped. */
  readonly onConflict: 'keep-both' | 'overwrite' | 'skip';
}

/**
 * Writes files into a folder as they were submitted with a job, by default into the job's own folder. Since they were the user's own files,
 * every name is written if there is no local file. Existing files with names that tools act on are never replaced.
 *
 * @throws AppError `missing` if the files are no longer stored, or none has one of these paths; as `placeFiles`.
 */
export async function restoreFiles(
  deps: PlaceDeps & { readonly home: string },
  record: JobRecord,
  { paths, onConflict }: RestoreChoice,
  options: Omit<PlaceOptions, 'decide'> = {},
): Promise<DownloadedResults> {
  const store = new ArchiveStore(deps.home);
  const packed = await store.packedFiles(record.id);
  await stat(packed.archive).catch((error: unknown) => {
    if (systemCode(error) !== 'ENOENT') throw error;
    throw new AppError('missing', 'The files of this job are no longer stored on this machine.', { cause: error });
  });
  const isChosen = (path: string): boolean =>
    paths.length === 0 || paths.some((chosen) => path === chosen || path.startsWith(`${chosen}/`));
  const decide = (plan: readonly PlannedResult[]): Decisions => {
    const unknown = paths.find((chosen) => !plan.some(({ path }) => path === chosen || path.startsWith(`${chosen}/`)));
    if (unknown !== undefined) throw new AppError('missing', `The job was submitted without ${unknown}.`);
    return new Map(plan.map((file) => [file.path, isChosen(file.path) ? decisionFor(file, onConflict) : 'skip']));
  };
  const source: Parameters<typeof placeFiles>[2] = {
    stage: (folder, staging) => deps.archiver.stagePacked(packed, folder, staging),
    manifest: await store.readManifest(record.id),
  };
  const {
    isWritten: _,
    entries: _entries,
    plan,
    skipped,
    ...placed
  } = await placeFiles(deps, record, source, { ...options, decide });
  return {
    ...placed,
    plan: plan.filter(({ path }) => isChosen(path)),
    skipped: skipped.filter((path) => isChosen(path)),
  };
}

function decisionFor({ status, review }: PlannedResult, onConflict: RestoreChoice['onConflict']): ResultDecision {
  if (status === 'same') return 'skip';
  if (status === 'new' || review?.isNew === true) return 'write';
  if (review !== undefined) return status === 'review' ? 'set-aside' : 'skip';
  return onConflict === 'overwrite' ? 'write' : onConflict;
}
