import { AppError } from '../../core/errors.ts';
import { classifyFailure, httpStatus } from '../../core/network/classifyFailure.ts';
import { type Retries, retry } from '../../core/retry.ts';
import { freeMemory } from '../../core/files/ownMemory.ts';
import type { RemoteClient } from '../../remote/client.ts';
import { entriesIn, MAX_PIECES, RECORD_BYTES, RESULT_CONTENT_FEATURE } from '../../remote/protocol/contents.ts';
import { receivedAccount } from '../../remote/protocol/schemas.ts';
import { freePiece, unpackPiece } from '../../remote/transfers/pieceFrame.ts';
import type { Piece } from '../../workspace/pack/splitPieces.ts';
import { repetitionDelayMs } from './sendContents.ts';
import type { PieceSource, TarAssembly } from './tarAssembly.ts';

const MAX_RECORDS_BYTES = MAX_PIECES * RECORD_BYTES;

/** The part of a service that offers results by content. */
export type ResultContentService = Pick<RemoteClient, 'me' | 'streamResultContents'>;

interface FetchPiecesOptions {
  readonly signal?: AbortSignal | undefined;
  readonly onProgress: (doneBytes: number, totalBytes: number) => void;
}

/**
 * The records of the pieces of a job's results.
 *
 * @param options.onRefused called with the error if the service offers them and refuses this request, unless the job has no results.
 * @returns undefined if the service does not offer them, refuses them, or offers too many.
 * @throws the system's error, the signal's reason on abort.
 */
export async function fetchRecords(
  service: ResultContentService,
  jobId: string,
  {
    signal,
    onRefused,
  }: { readonly signal?: AbortSignal | undefined; readonly onRefused?: (error: unknown) => void } = {},
): Promise<Buffer | undefined> {
  let isOffered = false;
  const options = { ...(signal && { signal }) };
  try {
    const { features } = receivedAccount.parse(await service.me(options));
    if (features?.includes(RESULT_CONTENT_FEATURE) !== true) return undefined;
    isOffered = true;
    const chunks: Uint8Array[] = [];
    let bytes = 0;
    for await (const chunk of service.streamResultContents(jobId, undefined, options)) {
      bytes += chunk.length;
      if (bytes > MAX_RECORDS_BYTES) return undefined;
      chunks.push(chunk);
    }
    return Buffer.concat(chunks);
  } catch (error) {
    signal?.throwIfAborted();
    if (httpStatus(error) === undefined) throw error;
    // The following request for the archive reports what is wrong with the results or the key.
    if (isOffered && classifyFailure(error) !== 'missing') onRefused?.(error);
    return undefined;
  }
}

/** Puts pieces from this machine into an assembly, and frees their memory. Changed and damaged ones are left out. */
export async function putPieces(
  assembly: TarAssembly,
  pieces: AsyncIterable<Piece & { readonly from?: PieceSource }>,
): Promise<void> {
  for await (const { name, bytes, from } of pieces) {
    await assembly.put(name, bytes, from);
    freeMemory(bytes);
    if (assembly.isComplete) return;
  }
}

/**
 * Fetches the pieces that an assembly lacks, and continues after a lost connection with those that it still lacks.
 *
 * @throws AppError `corrupt` if the service sends something else; the service's error, the system's error if the connection is lost several
 * times without progress, the signal's reason on abort.
 */
export async function fetchPieces(
  service: ResultContentService,
  jobId: string,
  assembly: TarAssembly,
  { signal, onProgress }: FetchPiecesOptions,
): Promise<void> {
  const options = { ...(signal && { signal }) };
  const fetchRest = async (retries: Retries): Promise<void> => {
    while (!assembly.isComplete) {
      const before = assembly.doneBytes;
      for await (const entry of entriesIn(service.streamResultContents(jobId, assembly.wanted(), options))) {
        if (entry === undefined) break;
        const bytes = unpackPiece(entry.frame);
        if (bytes === undefined || !(await assembly.put(entry.name, bytes))) throw wrongContents();
        if (assembly.doneBytes > before) retries.reset();
        freePiece(bytes);
        onProgress(assembly.doneBytes, assembly.totalBytes);
      }
      if (!assembly.isComplete && assembly.doneBytes === before) throw wrongContents();
    }
  };
  // Received pieces are kept, so after a lost connection the request is simply repeated.
  await retry(fetchRest, { signal, delayMs: repetitionDelayMs });
}

function wrongContents(): AppError {
  return new AppError(
    'corrupt',
    'The service sent contents that do not match its own list, so nothing was saved. Download the results again.',
  );
}
