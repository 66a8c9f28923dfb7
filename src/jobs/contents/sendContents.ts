import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { constants, zstdCompress, type ZstdOptions } from 'node:zlib';
import {
  batchEntry,
  MAX_ASKED_NAMES,
  MAX_BATCH_PIECES,
  NAME_BYTES,
  nameOfPiece,
  namesIn,
  PIECE_HEADER_BYTES,
} from '../../remote/protocol/contents.ts';
import type { RemoteClient } from '../../remote/client.ts';
import { httpStatus } from '../service/api.ts';
import { type ArchiveContents, readPieces } from './archiveContents.ts';

const BATCH_BYTES = 4 * 1024 * 1024;
const OPTIONS: ZstdOptions = { params: { [constants.ZSTD_c_compressionLevel]: 3 } };
// Pieces can be sent again without harm, so a lost connection is simply tried again.
const RETRY_DELAYS_MS = [250, 1_000, 4_000];
const compress = promisify<Buffer, ZstdOptions, Buffer>(zstdCompress);

/** The part of a service that takes contents. */
export type ContentService = Pick<RemoteClient, 'postContents'>;

export interface SendContentsOptions {
  readonly signal?: AbortSignal | undefined;
  /** Called with the pieces that were sent or need not be, all pieces, and the bytes of all requests. */
  readonly onProgress: (done: number, total: number, sentBytes: number) => void;
}

/**
 * Sends the pieces of an archive that the service lacks.
 *
 * @throws the service's error, the system's error if the connection is lost three times in a row, the signal's reason on abort.
 */
export async function sendContents(
  service: ContentService,
  archive: string,
  { lists }: ArchiveContents,
  { signal, onProgress }: SendContentsOptions,
): Promise<void> {
  let sentBytes = 0;
  const post = async (path: 'lacking' | 'lacking-lists' | 'pieces', body: Buffer): Promise<Buffer> => {
    const answer = await retried(() => service.postContents(path, body, { ...(signal && { signal }) }), signal);
    sentBytes += body.length;
    return answer;
  };
  const ask = async (path: 'lacking' | 'lacking-lists', names: readonly Buffer[]): Promise<Set<string>> => {
    const lacking = new Set<string>();
    for (let start = 0; start < names.length; start += MAX_ASKED_NAMES) {
      const asked = names.slice(start, start + MAX_ASKED_NAMES);
      const bits = await post(path, Buffer.concat(asked));
      for (const [index, name] of asked.entries()) {
        if (((bits[index >> 3] ?? 0xff) & (1 << (index & 7))) !== 0) lacking.add(name.toString('hex'));
      }
    }
    return lacking;
  };
  const total = lists.reduce((sum, { names }) => sum + names.length / NAME_BYTES, 0);
  const unique = new Map(lists.map((list) => [list.name.toString('hex'), list]));
  const missingLists = await ask(
    'lacking-lists',
    [...unique.values()].map(({ name }) => name),
  );
  const open = [...unique].filter(([name]) => missingLists.has(name)).map(([, list]) => list);
  const asked = new Map(
    open.flatMap(({ names }) => (namesIn(names) ?? []).map((name) => [name.toString('hex'), name])),
  );
  const missing = await ask('lacking', [...asked.values()]);
  onProgress(total - missing.size, total, sentBytes);

  let batch: Promise<readonly Buffer[]>[] = [];
  let size = 0;
  const add = (bytes: Buffer): void => {
    const name = nameOfPiece(bytes);
    batch.push(compress(Buffer.from(bytes), OPTIONS).then((frame) => batchEntry(name, frame)));
    size += bytes.length + PIECE_HEADER_BYTES;
  };
  const flush = async (): Promise<void> => {
    if (batch.length === 0) return;
    await post('pieces', Buffer.concat((await Promise.all(batch)).flat()));
    batch = [];
    size = 0;
    onProgress(total - missing.size, total, sentBytes);
  };
  const addMissing = (piece: Buffer): void | 'stop' => {
    if (missing.delete(nameOfPiece(piece).toString('hex'))) add(piece);
    return missing.size === 0 ? 'stop' : undefined;
  };
  const flushFull = async (): Promise<void> =>
    size >= BATCH_BYTES || batch.length === MAX_BATCH_PIECES ? flush() : undefined;
  if (missing.size > 0) await readPieces(archive, addMissing, flushFull, signal);
  for (const { names } of open) {
    add(names);
    await flushFull();
  }
  await flush();
}

async function retried<T>(work: () => Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  for (let failures = 0; ; failures += 1) {
    try {
      return await work();
    } catch (error) {
      const delay = RETRY_DELAYS_MS[failures];
      signal?.throwIfAborted();
      if (httpStatus(error) !== undefined || delay === undefined) throw error;
      await sleep(delay, undefined, { ...(signal && { signal }) });
    }
  }
}
