import { ArchiveStore } from '../archives/archives.ts';
import type { AsyncLedger } from '../ledger/asyncLedger.ts';
import type { JobRecord } from '../ledger/record.ts';
import { type FetchDeps, withArchive } from './fetchArchive.ts';
import {
  type DownloadedResults,
  type DownloadOptions,
  type FileSource,
  type PlaceDeps,
  placeFiles,
} from './placeFiles.ts';

export interface DownloadDeps extends FetchDeps, PlaceDeps {
  readonly ledger: AsyncLedger;
}

/**
 * Downloads a job's results into a folder, as `placeFiles` does.
 *
 * @throws AppError `missing` (no such job, or no results), `no-space`, `refused`, `corrupt`, `limit`, `conflict` if local files keep
 * changing; the service's own errors.
 */
export async function downloadResults(
  deps: DownloadDeps,
  id: string,
  options: DownloadOptions = {},
): Promise<DownloadedResults> {
  const { archiver, ledger, home } = deps;
  const { signal, onPhase } = options;
  const fetching = {
    ...(signal !== undefined && { signal }),
    onDownload: (doneBytes: number, totalBytes: number | undefined) =>
      onPhase?.({ type: 'download', doneBytes, totalBytes }),
  };
  return withArchive(deps, await ledger.get(id), fetching, async (archive, record) => {
    const onProgress = (doneBytes: number, totalBytes: number) => onPhase?.({ type: 'unpack', doneBytes, totalBytes });
    const source: FileSource = {
      stage: (folder, staging) => archiver.stage(archive, folder, { ...staging, onProgress }),
      manifest: await new ArchiveStore(home).readManifest(id),
    };
    return placeResults(deps, record, source, options);
  });
}

/** Writes results into a folder, as `placeFiles`, and records that they were downloaded. */
export async function placeResults(
  deps: PlaceDeps & { readonly ledger: AsyncLedger },
  record: JobRecord,
  source: FileSource,
  options: DownloadOptions,
): Promise<DownloadedResults> {
  const { isWritten, ...placed } = await placeFiles(deps, record, source, options);
  // The results are written even if there is no space to record it.
  if (isWritten) await deps.ledger.update(record.id, { downloadedAt: new Date().toISOString() }).catch(() => {});
  return placed;
}
