import { posix } from 'node:path';
import { AppError } from '../../core/errors.ts';
import { printableLine } from '../../core/text/printable.ts';
import type { JobFileRead } from '../../remote/tunnel/channelRequests.ts';
import type { JobArchiveEnd, JobFile } from '../../remote/tunnel/fileChannels.ts';
import type { JobTunnelClient } from '../../remote/tunnel/jobTunnelClient.ts';
import { BLOCK_BYTES, encodeHeader, paddingOf } from '../../workspace/archive/tarFormat.ts';
import { type ArchiveLimits, stageTar } from '../../workspace/extract/extract.ts';
import { ArchiveStore } from '../archives/archives.ts';
import type { JobRecord } from '../ledger/record.ts';
import { type DownloadedResults, type PlaceDeps, placeFiles, type PlaceOptions } from './placeFiles.ts';

const FILE_MODE = 0o644;
const TAR_END = Buffer.alloc(2 * BLOCK_BYTES);

export interface TakenFiles extends DownloadedResults {
  /** Files of the job that were left out, or that changed while they were read: the first of them, and how many. */
  readonly left: JobArchiveEnd;
}

export interface TakeOptions extends Omit<PlaceOptions, 'folder'> {
  /** The folder that the file, or what is in the folder, is written into. */
  readonly folder: string;
  /** The name that a file gets; its own by default. */
  readonly name?: string | undefined;
  readonly limits?: ArchiveLimits | undefined;
}

/**
 * Copies a file, or what is in a folder, of a running job into a folder of this machine, as `placeFiles` does.
 *
 * @throws AppError `missing`, `conflict` if the file became shorter meanwhile; as `placeFiles`, and as the tunnel.
 */
export async function takeFromJob(
  deps: PlaceDeps,
  {
    tunnel,
    record,
  }: { readonly tunnel: JobTunnelClient; readonly record: Pick<JobRecord, 'id' | 'jobId' | 'folder' | 'script'> },
  path: string,
  { name = posix.basename(path), limits, ...options }: TakeOptions,
): Promise<TakenFiles> {
  const { signal } = options;
  const count = byteCounter(options.onPhase);
  let left: JobArchiveEnd = { skipped: { paths: [], count: 0 }, changed: { paths: [], count: 0 } };
  async function* read(): AsyncGenerator<Buffer, void> {
    const { type } = await tunnel.stat(path, { signal });
    if (type === 'folder') {
      using archive = tunnel.archive(path, { signal });
      yield* count(archive.bytes);
      left = await archive.ended;
      return;
    }
    if (type !== 'file')
      throw new AppError('refused', `${printableLine(path)} is not a file or a folder, and is not copied.`);
    using opened = await tunnel.read(path, { signal });
    yield* fileEntry(opened, name, count(opened.bytes, opened.length));
    yield TAR_END;
    if ((await opened.ended).isChanged) left = { ...left, changed: { paths: [path], count: 1 } };
  }
  const placed = await placeTar(deps, record, { tar: read(), limits }, options);
  return { ...placed, left };
}

interface TakeDeps extends PlaceDeps {
  readonly home: string;
  readonly limits: ArchiveLimits;
}

/**
 * Writes files of a running job, as they are now, into the folder that was submitted or another one, as `downloadResults` does with the
 * results of a job that has ended: under their paths in the job, so that the same rules hold.
 *
 * @param paths files and folders; `''` is everything. Links, special files and names that are not valid UTF-8 are left out.
 * @throws as `takeFromJob`.
 */
export async function takeRunning(
  deps: TakeDeps,
  record: JobRecord,
  { tunnel, paths }: { readonly tunnel: JobTunnelClient; readonly paths: readonly string[] },
  options: PlaceOptions = {},
): Promise<DownloadedResults> {
  const manifest = await new ArchiveStore(deps.home).readManifest(record.id);
  const tar = archiveOf(tunnel, paths, options);
  return placeTar(deps, record, { tar, limits: deps.limits, manifest }, options);
}

async function* archiveOf(
  tunnel: JobTunnelClient,
  paths: readonly string[],
  { signal, onPhase }: PlaceOptions,
): AsyncGenerator<Buffer, void> {
  const count = byteCounter(onPhase);
  for (const path of paths) {
    if (paths.some((other) => other !== path && (other === '' || path.startsWith(`${other}/`)))) continue;
    for await (const file of filesUnder(tunnel, path, signal)) {
      using opened = await tunnel.read(file.path, { signal });
      yield* fileEntry(opened, file.path, count(opened.bytes));
    }
  }
  yield TAR_END;
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

async function* fileEntry(
  { file, length }: JobFileRead,
  path: string,
  bytes: AsyncIterable<Buffer>,
): AsyncGenerator<Buffer, void> {
  const mtime = (file.modified / 1000).toFixed(3);
  yield encodeHeader({ path, size: length, mode: FILE_MODE, mtime });
  yield* bytes;
  yield Buffer.alloc(paddingOf(length));
}

interface Taken {
  readonly tar: AsyncIterable<Buffer>;
  readonly limits: ArchiveLimits | undefined;
  readonly manifest?: Parameters<typeof placeFiles>[2]['manifest'];
}

async function placeTar(
  deps: PlaceDeps,
  record: Parameters<typeof placeFiles>[1],
  { tar, limits, manifest }: Taken,
  options: PlaceOptions,
): Promise<DownloadedResults> {
  const stage = (folder: string, staging: { readonly name: string; readonly signal?: AbortSignal }) =>
    stageTar(tar, folder, { ...staging, limits });
  const { isWritten: _, entries: _entries, ...placed } = await placeFiles(deps, record, { stage, manifest }, options);
  return placed;
}

/** Reports the bytes that pass, of all streams together. */
function byteCounter(onPhase: PlaceOptions['onPhase']) {
  let doneBytes = 0;
  return async function* count(bytes: AsyncIterable<Buffer>, totalBytes?: number): AsyncGenerator<Buffer, void> {
    for await (const chunk of bytes) {
      doneBytes += chunk.length;
      onPhase?.({ type: 'download', doneBytes, totalBytes });
      yield chunk;
    }
  };
}
