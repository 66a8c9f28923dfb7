import { AppError } from '../../core/errors.ts';
import { ArchiveStore } from '../archives/archives.ts';
import { readSegments } from '../archives/archiveSegments.ts';
import { contentsOf } from '../contents/archiveContents.ts';
import { fetchPieces, putPieces, type ResultContentService } from '../contents/fetchContents.ts';
import { TarAssembly } from '../contents/tarAssembly.ts';
import type { AssembledTar } from '../../workspace/archive/assembledTar.ts';
import type { JobRecord } from '../ledger/record.ts';
import { PlacedResults } from './placedResults.ts';

// Below this, the archive is fetched whole, which is compressed better and needs one request.
const LEAST_LOCAL_BYTES = 256 * 1024;

interface AssembleOptions {
  /** The path of the new tar file. */
  readonly dest: string;
  /** Of the pieces, as the service sent them. */
  readonly records: Buffer;
  readonly maxBytes: number;
  readonly signal?: AbortSignal | undefined;
  readonly onProgress: (doneBytes: number, totalBytes: number) => void;
}

/**
 * Assembles the results of a job from the last results of its folder, what was sent with the job, and pieces that only the service has.
 *
 * @returns undefined if little of them is on this machine, so that the archive should be fetched instead. There may be a file nevertheless.
 * @throws AppError `corrupt` for records that are not valid, and as `fetchPieces`.
 */
export async function assembleResults(
  { service, home }: { readonly service: ResultContentService; readonly home: string },
  record: JobRecord & { readonly jobId: string },
  { dest, records, maxBytes, signal, onProgress }: AssembleOptions,
): Promise<AssembledTar | undefined> {
  const assembly = await TarAssembly.create(records, dest, maxBytes);
  if (assembly === undefined) {
    const message = 'The list of the contents of the results is not valid, so nothing was saved. Download them again.';
    throw new AppError('corrupt', message);
  }
  try {
    await putPieces(assembly, new PlacedResults(home).read(record, assembly.lackingNames()));
    await putSubmitted(assembly, record, home, signal);
    if (assembly.doneBytes < LEAST_LOCAL_BYTES) return undefined;
    onProgress(assembly.doneBytes, assembly.totalBytes);
    await fetchPieces(service, record.jobId, assembly, { signal, onProgress });
    return { path: dest, sources: assembly.sources() };
  } finally {
    await assembly[Symbol.asyncDispose]();
  }
}

/** Puts what was sent with the job into the assembly. */
async function putSubmitted(
  assembly: TarAssembly,
  { id }: JobRecord,
  home: string,
  signal: AbortSignal | undefined,
): Promise<void> {
  const store = new ArchiveStore(home);
  const segments = await readSegments(store.segmentsPath(id));
  if (segments === undefined || assembly.isComplete) return;
  try {
    const { archive } = await store.packedFiles(id);
    await putPieces(assembly, contentsOf(archive, segments).read(assembly.lackingNames(), signal));
  } catch {
    signal?.throwIfAborted();
    // The archive was removed or damaged, so the service sends its pieces.
  }
}
