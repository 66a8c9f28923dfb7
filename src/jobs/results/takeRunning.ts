import type { JobTunnelClient } from '../../remote/tunnel/jobTunnelClient.ts';
import type { JobFile } from '../../remote/tunnel/fileChannels.ts';
import { BLOCK_BYTES, encodeHeader, paddingOf } from '../../workspace/archive/tarFormat.ts';
import { type ArchiveLimits, stageTar } from '../../workspace/extract/extract.ts';
import { ArchiveStore } from '../archives/archives.ts';
import type { JobRecord } from '../ledger/record.ts';
import { type DownloadedResults, type PlaceDeps, placeFiles, type PlaceOptions } from './placeFiles.ts';

const FILE_MODE = 0o644;

interface TakeDeps extends PlaceDeps {
  readonly home: string;
  readonly limits: ArchiveLimits;
}

/**
 * Writes files of a running job, as they are now, into the folder that was submitted or another one, as `downloadResults` does with the
 * results of a job that has ended: under their paths in the job, so that the same rules hold.
 *
 * @param paths files and folders; `''` is everything. Links, special files and names that are not valid UTF-8 are left out.
 * @throws AppError `missing`, `conflict` if a file became shorter meanwhile; as `placeFiles`, and why the tunnel ended.
 */
export async function takeRunning(
  deps: TakeDeps,
  record: JobRecord,
  { tunnel, paths }: { readonly tunnel: JobTunnelClient; readonly paths: readonly string[] },
  options: PlaceOptions = {},
): Promise<DownloadedResults> {
  const manifest = await new ArchiveStore(deps.home).readManifest(record.id);
  const stage = (folder: string, staging: { readonly name: string; readonly signal?: AbortSignal }) =>
    stageTar(archiveOf(tunnel, paths, options), folder, { ...staging, limits: deps.limits });
  const { isWritten: _, entries: _entries, ...placed } = await placeFiles(deps, record, { stage, manifest }, options);
  return placed;
}

async function* archiveOf(
  tunnel: JobTunnelClient,
  paths: readonly string[],
  { signal, onPhase }: Pick<PlaceOptions, 'signal' | 'onPhase'>,
): AsyncGenerator<Buffer, void> {
  let doneBytes = 0;
  for (const path of paths) {
    if (paths.some((other) => other !== path && (other === '' || path.startsWith(`${other}/`)))) continue;
    for await (const file of filesUnder(tunnel, path, signal)) {
      using opened = await tunnel.read(file.path, { signal });
      const { modified } = opened.file;
      const mtime = (modified / 1000).toFixed(3);
      yield encodeHeader({ path: file.path, size: opened.length, mode: FILE_MODE, mtime });
      for await (const bytes of opened.bytes) {
        doneBytes += bytes.length;
        onPhase?.({ type: 'download', doneBytes, totalBytes: undefined });
        yield bytes;
      }
      yield Buffer.alloc(paddingOf(opened.length));
    }
  }
  yield Buffer.alloc(2 * BLOCK_BYTES);
}

async function* filesUnder(
  tunnel: JobTunnelClient,
  path: string,
  signal: AbortSignal | undefined,
): AsyncGenerator<JobFile, void> {
  const isTaken = (file: JobFile): boolean => file.type === 'file' && file.path.isWellFormed();
  const found = await tunnel.stat(path, { signal });
  if (isTaken(found)) yield found;
  if (found.type !== 'folder') return;
  for await (const entries of tunnel.walk(path, { signal })) yield* entries.filter(isTaken);
}
