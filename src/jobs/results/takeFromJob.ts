import { posix } from 'node:path';
import { AppError } from '../../core/errors.ts';
import { printableLine } from '../../core/text/printable.ts';
import type { JobArchiveEnd } from '../../remote/tunnel/fileChannels.ts';
import type { JobTunnelClient } from '../../remote/tunnel/jobTunnelClient.ts';
import { BLOCK_BYTES, encodeHeader, paddingOf } from '../../workspace/archive/tarFormat.ts';
import { type ArchiveLimits, stageTar } from '../../workspace/extract/extract.ts';
import type { JobRecord } from '../ledger/record.ts';
import { type DownloadedResults, type PlaceDeps, placeFiles, type PlaceOptions } from './placeFiles.ts';

const FILE_MODE = 0o644;

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
  let left: JobArchiveEnd = { skipped: { paths: [], count: 0 }, changed: { paths: [], count: 0 } };
  async function* read(): AsyncGenerator<Buffer, void> {
    const { type } = await tunnel.stat(path, { signal });
    if (type === 'folder') {
      using archive = tunnel.archive(path, { signal });
      yield* counted(archive.bytes, undefined, options.onPhase);
      left = await archive.ended;
      return;
    }
    if (type !== 'file')
      throw new AppError('refused', `${printableLine(path)} is not a file or a folder, and is not copied.`);
    using opened = await tunnel.read(path, { signal });
    const { size, modified } = opened.file;
    yield encodeHeader({ path: name, size, mode: FILE_MODE, mtime: (modified / 1000).toFixed(3) });
    yield* counted(opened.bytes, size, options.onPhase);
    yield Buffer.alloc(paddingOf(size) + 2 * BLOCK_BYTES);
    if ((await opened.ended).isChanged) left = { ...left, changed: { paths: [path], count: 1 } };
  }
  const stage = (folder: string, staging: { readonly name: string; readonly signal?: AbortSignal }) =>
    stageTar(read(), folder, { ...staging, limits });
  const {
    isWritten: _,
    entries: _entries,
    ...placed
  } = await placeFiles(deps, record, { stage, manifest: undefined }, options);
  return { ...placed, left };
}

async function* counted(
  bytes: AsyncIterable<Buffer>,
  totalBytes: number | undefined,
  onPhase: PlaceOptions['onPhase'],
): AsyncGenerator<Buffer, void> {
  let doneBytes = 0;
  for await (const chunk of bytes) {
    doneBytes += chunk.length;
    onPhase?.({ type: 'download', doneBytes, totalBytes });
    yield chunk;
  }
}
