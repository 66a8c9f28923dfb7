import { mkdir, realpath } from 'node:fs/promises';
import { resolve } from 'node:path';
import { AppError } from '../../core/errors.ts';
import { backoffMs, delay, Retries } from '../../core/retry.ts';
import type { ManifestEntry } from '../../workspace/pack/pack.ts';
import { writeFailure } from '../../workspace/files/fileWriting.ts';
import { removeMade } from '../../workspace/files/madeFolder.ts';
import type { SkippedEntry, StagedArchive, StagedFile } from '../../workspace/extract/extract.ts';
import type { AppliedResults, PlannedResult, ResultDecision } from '../../workspace/results/applyResults.ts';
import type { Archiver } from '../archives/archiver.ts';
import { type JobRecord, shortId } from '../ledger/record.ts';
import type { FetchPhase } from './fetchArchive.ts';
import type { ResultJournals } from './resultJournals.ts';

export interface PlaceDeps {
  readonly archiver: Archiver;
  readonly journals: ResultJournals;
  /** Waits before the folder is compared again, at most this long; a random part of it by default. */
  readonly pause?: (longestMs: number, signal: AbortSignal | undefined) => Promise<void>;
}

export type DownloadPhase =
  | FetchPhase
  | { readonly type: 'unpack'; readonly doneBytes: number; readonly totalBytes: number }
  | { readonly type: 'decide'; readonly plan: readonly PlannedResult[] }
  | { readonly type: 'write' };

export type Decisions = ReadonlyMap<string, ResultDecision>;

/**
 * Returns the folder for the results, or throws an error if a link there leads elsewhere. It is called again before each use of the folder,
 * because a download takes its time.
 */
export type CheckedFolder = () => Promise<string>;

export interface PlaceOptions {
  /** The folder for the results, created if missing; the job's own folder by default. */
  readonly folder?: string | CheckedFolder | undefined;
  /**
   * Decides for each file; `defaultDecisions` by default. Undefined means that nothing is written. `staging` is the folder with the unpacked
   * results, which can be compared with the local files until then.
   */
  readonly decide?: (
    plan: readonly PlannedResult[],
    staging: string,
  ) => Decisions | undefined | Promise<Decisions | undefined>;
  readonly signal?: AbortSignal;
  readonly onPhase?: (phase: DownloadPhase) => void;
}

export interface DownloadedResults extends AppliedResults {
  readonly folder: string;
  readonly plan: readonly PlannedResult[];
  /** Entries of the archive that were not created: links, special files, and names that cannot be written here. */
  readonly refused: readonly SkippedEntry[];
}

interface PlacedFiles extends DownloadedResults {
  /** Whether `decide` agreed. */
  readonly isWritten: boolean;
  /** All files, in their order. */
  readonly entries: readonly StagedFile[];
}

/** Where files for a folder come from. */
export interface FileSource {
  /** Writes them into a staging folder of this name inside `folder`. */
  stage(folder: string, options: { readonly name: string; readonly signal?: AbortSignal }): Promise<StagedArchive>;
  /** What was submitted with the job, to tell a local file that is still the same from one that was changed. */
  readonly manifest: readonly ManifestEntry[] | undefined;
  /** The notebook that the job ran: its outputs can be put into the local one. */
  readonly notebook?: string | undefined;
}

// Another download or an editor may write into the folder in the meantime, but not endlessly.
const COMPARISONS = 5;
const SHORTEST_ATTEMPT_MS = 50;

/**
 * New files are written, identical ones skipped, the outputs of notebooks put into the local ones, files that are as they were submitted
 * replaced, and other ones saved beside the local file. Files that could change how tools behave or what the next submit sends are set
 * aside, and protected names are skipped.
 */
export function defaultDecisions(plan: readonly PlannedResult[]): Decisions {
  return new Map(plan.map(({ path, status, merge }) => [path, merge ? 'merge' : DEFAULT_DECISIONS[status]]));
}

/** The same, but whatever differs from the local file is saved beside it. */
export function keepBothDecisions(plan: readonly PlannedResult[]): Decisions {
  return new Map(
    plan.map(({ path, status }) => [path, status === 'changed' ? 'keep-both' : DEFAULT_DECISIONS[status]]),
  );
}

const DEFAULT_DECISIONS: Readonly<Record<PlannedResult['status'], ResultDecision>> = {
  new: 'write',
  changed: 'write',
  conflict: 'keep-both',
  review: 'set-aside',
  same: 'skip',
  protected: 'skip',
};

const randomPause: NonNullable<PlaceDeps['pause']> = (longestMs, signal) => delay(Math.random() * longestMs, signal);

/**
 * Writes files of a job into a folder. After a failure, refusal or cancellation the folder is unchanged, without temporary files.
 *
 * If local files change between the comparison and the writing, they are compared again after a pause, and `decide` is called again.
 *
 * @throws AppError `refused`, `corrupt`, `limit` or `no-space`, `conflict` if local files keep changing; the errors of the source.
 */
export async function placeFiles(
  { archiver, journals, pause = randomPause }: PlaceDeps,
  record: Pick<JobRecord, 'id' | 'jobId' | 'folder' | 'script'>,
  source: FileSource,
  { folder: target = record.folder, decide = defaultDecisions, signal, onPhase }: PlaceOptions,
): Promise<PlacedFiles> {
  const abort = signal === undefined ? {} : { signal };
  const targetFolder = await currentFolder(target);
  const firstCreated = await mkdir(targetFolder, { recursive: true }).catch((error: unknown) => {
    throw writeFailure(error, targetFolder);
  });
  const folder = await currentFolder(target);
  const journal = journals.begin(await realpath(folder), record.script);
  let staged: StagedArchive | undefined;
  try {
    staged = await source.stage(folder, { ...abort, name: journal.stagingName });
    let startedAt = 0;
    const retries = new Retries({
      delayMs: (failures, error) => {
        // A local file changed since the comparison and nothing was written, so the loop compares and decides again.
        if (!(error instanceof AppError && error.code === 'conflict')) return undefined;
        // Two downloads that write the same names make each other roll back. Different pauses, as long as an attempt takes, get them out of
        // step.
        const firstMs = Math.max(performance.now() - startedAt, SHORTEST_ATTEMPT_MS);
        return backoffMs(failures, { firstMs, longestMs: Infinity, retries: COMPARISONS - 1 });
      },
      sleep: pause,
      signal,
    });
    for (;;) {
      while (journal.othersWrite()) await pause(SHORTEST_ATTEMPT_MS, signal);
      const plan = await archiver.plan(staged, folder, { submitted: source.manifest, notebook: source.notebook });
      if (journal.othersWrite()) continue; // what is the same now may be taken back
      onPhase?.({ type: 'decide', plan });
      const decisions = await decide(plan, staged.staging);
      signal?.throwIfAborted();
      const all = plan.map(({ path }) => path);
      const known = { folder, plan, refused: staged.skipped, entries: staged.entries };
      if (decisions === undefined)
        return { isWritten: false, ...known, written: [], merged: [], skipped: all, setAside: [], moved: [] };
      onPhase?.({ type: 'write' });
      await currentFolder(target);
      startedAt = performance.now();
      try {
        const options = { label: shortId(record), journal: journal.steps, ...abort };
        return { isWritten: true, ...known, ...(await archiver.apply(staged, folder, decisions, options)) };
      } catch (error) {
        await retries.wait(error);
      }
    }
  } finally {
    // Otherwise the staging folder contains originals that could not be restored.
    if (staged !== undefined && !journal.isOpen()) await archiver.discard(staged);
    journal.end();
    if (firstCreated !== undefined) await removeMade(resolve(folder), firstCreated);
  }
}

/** @throws the error of a `CheckedFolder`. */
export async function currentFolder(folder: string | CheckedFolder): Promise<string> {
  return typeof folder === 'string' ? folder : folder();
}
