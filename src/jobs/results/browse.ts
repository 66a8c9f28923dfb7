import { ArchiveStore } from '../archives/archives.ts';
import type { AsyncLedger } from '../ledger/asyncLedger.ts';
import type { JobRecord } from '../ledger/record.ts';
import { placeResults } from './resultDownload.ts';
import { startedNotebook } from '../selection/script.ts';
import { type FetchDeps, withArchive } from './fetchArchive.ts';
import type { DownloadedResults, PlaceOptions, DownloadPhase, PlaceDeps } from './placeFiles.ts';
import type { BrowsedResults, ResultSummary } from './browsedResults.ts';

/** The results in the cache, in this thread or behind a worker. */
export interface BrowsingDeps {
  readonly browsed: {
    readonly [M in 'summary' | 'add' | 'stage']: BrowsedResults[M];
  };
}

/**
 * Makes a job's results available in the cache: downloads their archive, unless they are there already.
 *
 * @throws AppError `missing` (no such job, or no results), `no-space`, `refused`, `corrupt`, `limit`; the service's own errors.
 */
export async function browseResults(
  deps: FetchDeps & BrowsingDeps,
  record: JobRecord,
  { signal, onPhase }: { readonly signal?: AbortSignal; readonly onPhase?: (phase: DownloadPhase) => void } = {},
): Promise<ResultSummary> {
  const summary = await deps.browsed.summary(record.id);
  if (summary !== undefined) return summary;
  return withArchive(deps, record, { signal, onPhase }, ({ archive }, { id }) =>
    deps.browsed.add(id, archive, {
      ...(signal !== undefined && { signal }),
      limits: deps.limits,
      onProgress: (doneBytes, totalBytes) => onPhase?.({ type: 'unpack', doneBytes, totalBytes }),
    }),
  );
}

/**
 * Writes results that are in the cache into a folder, as `downloadResults` does with all of them.
 *
 * @param paths files and folders; `''` is everything.
 * @throws AppError `missing` if they are not in the cache, `limit` if the contents of one of them are not stored; as `downloadResults`.
 */
export async function takeResults(
  deps: PlaceDeps & BrowsingDeps & { readonly ledger: AsyncLedger; readonly home: string },
  record: JobRecord,
  paths: readonly string[],
  options: PlaceOptions = {},
): Promise<DownloadedResults> {
  const manifest = await new ArchiveStore(deps.home).readManifest(record.id);
  const source = {
    stage: (folder: string, staging: { readonly name: string; readonly signal?: AbortSignal }) =>
      deps.browsed.stage(record.id, paths, folder, staging),
    manifest,
    notebook: startedNotebook(record),
  };
  return placeResults(deps, record, source, options);
}
