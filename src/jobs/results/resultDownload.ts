import { join } from 'node:path';
import type { StagedFile } from '../../workspace/extract/extract.ts';
import { ArchiveStore } from '../archives/archives.ts';
import type { AsyncLedger } from '../ledger/asyncLedger.ts';
import type { JobRecord } from '../ledger/record.ts';
import { startedNotebook } from '../selection/script.ts';
import { type FetchDeps, withArchive } from './fetchArchive.ts';
import {
  currentFolder,
  type DownloadedResults,
  type PlaceOptions,
  type FileSource,
  type PlaceDeps,
  placeFiles,
} from './placeFiles.ts';
import { type PlacedFile, PlacedResults } from './placedResults.ts';

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
  options: PlaceOptions = {},
): Promise<DownloadedResults> {
  const { archiver, ledger, home, limits } = deps;
  const { signal, onPhase, folder: target } = options;
  // Checked first, so that nothing is downloaded for a folder that is refused.
  if (target !== undefined) await currentFolder(target);
  return withArchive(deps, await ledger.get(id), { signal, onPhase }, async ({ archive, records }, record) => {
    const onProgress = (doneBytes: number, totalBytes: number) => onPhase?.({ type: 'unpack', doneBytes, totalBytes });
    const source: FileSource = {
      stage: (folder, staging) => archiver.stage(archive, folder, { ...staging, limits, onProgress }),
      manifest: await new ArchiveStore(home).readManifest(id),
      notebook: startedNotebook(record),
    };
    return placeResults(deps, record, source, {
      ...options,
      onPlaced: async (files) => {
        if (records !== undefined) await new PlacedResults(home).write(record, { records, files });
      },
    });
  });
}

/** Writes results into a folder, as `placeFiles`, and records that they were downloaded. */
export async function placeResults(
  deps: PlaceDeps & { readonly ledger: AsyncLedger },
  record: JobRecord,
  source: FileSource,
  { onPlaced, ...options }: PlaceOptions & { readonly onPlaced?: (files: readonly PlacedFile[]) => Promise<void> },
): Promise<DownloadedResults> {
  const { isWritten, entries, ...placed } = await placeFiles(deps, record, source, options);
  if (!isWritten) return placed;
  // The results are written even if there is no space to record it.
  await deps.ledger.update(record.id, { downloadedAt: new Date().toISOString() }).catch(() => {});
  await onPlaced?.(whereFilesAre(entries, placed)).catch(() => {});
  return placed;
}

/** The file that was written from each entry, or else the local file at its path, which may be identical. */
function whereFilesAre(
  entries: readonly StagedFile[],
  { folder, written, skipped, setAside }: DownloadedResults,
): readonly PlacedFile[] {
  const kept = new Set(skipped);
  const aside = new Map(setAside.map(({ path, at }) => [path, at]));
  // In the order of the entries, some with other names.
  const names = written.values();
  return entries.map(({ path, name = path, size, mode }) => {
    const at = kept.has(path) ? path : (aside.get(path) ?? names.next().value ?? path);
    return { path: name, size, mode, at: join(folder, at) };
  });
}
