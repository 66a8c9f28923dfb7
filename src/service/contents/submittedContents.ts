import { readFile, stat } from 'node:fs/promises';
import { AppError } from '../../core/errors.ts';
import { Yielder } from '../../core/processes/yielder.ts';
import { formatBytes } from '../../core/text/format.ts';
import { MOST_UNPACKED_BYTES } from '../../workspace/extract/extract.ts';
import { ZERO_PIECE_NAME } from '../../workspace/pack/pieceRecords.ts';
import { MAX_LISTS, MAX_PIECES, NAME_BYTES, namesIn } from '../../remote/protocol/contents.ts';
import { type ContentStore, tooManyPieces } from './contentStore.ts';
import { PackReader, type PieceLocation } from './packReader.ts';

/** Some pieces of a submission are lacking. The client asks again which ones. */
export class LackingContents extends Error {
  override readonly name = 'LackingContents';

  constructor() {
    super('The service lacks contents of this submission. Send them first.');
  }
}

/** The complete contents of a submission. */
export interface SubmittedContents {
  /** The names of the lists. */
  readonly lists: Buffer;
  /** In order; a piece may occur several times. */
  readonly pieces: readonly PieceLocation[];
  /** The number of pieces of each list. */
  readonly counts: readonly number[];
  /** Of the tar stream, without pieces of zeros, which become holes. */
  readonly storedBytes: number;
  /** Of all pieces, compressed. */
  readonly packedBytes: number;
  /** The paths of all packs that have a piece or a list. */
  readonly packs: ReadonlySet<string>;
}

/**
 * Finds what a submission consists of.
 *
 * @param submission the names of the lists, or the path of the file with them.
 * @param maxBytes the limit for the compressed pieces together, counting repetitions: that of an archive.
 * @throws AppError `bad-input` for a submission that is not a list of names, `limit` for one that is too large; LackingContents; the signal's
 *   reason.
 */
export async function findContents(
  store: Pick<ContentStore, 'read' | 'locate'>,
  {
    account,
    submission,
    maxBytes,
    signal,
  }: {
    readonly account: string;
    readonly submission: string | Buffer;
    readonly maxBytes: number;
    readonly signal: AbortSignal;
  },
): Promise<SubmittedContents> {
  const size = typeof submission === 'string' ? (await stat(submission)).size : submission.length;
  const isTooLong = size > MAX_LISTS * NAME_BYTES;
  const lists = isTooLong ? undefined : await contentOf(submission);
  const names = lists && namesIn(lists);
  if (lists === undefined || names === undefined || names.length === 0) {
    throw new AppError('bad-input', 'The part "contents" must be the SHA-256 of each list of the submission.');
  }
  const { pieceNames, counts, isWhole } = await readLists(store, account, names, signal);
  const found = await store.locate(account, [...names, ...pieceNames]);
  const here = found.filter((location) => location !== undefined);
  const pieces = found.slice(names.length).filter((location) => location !== undefined);
  const bytes = pieces.reduce((sum, { size }) => sum + size, 0);
  const packedBytes = pieces.reduce((sum, piece) => sum + piece.bytes, 0);
  if (bytes > MOST_UNPACKED_BYTES) {
    throw new AppError('limit', `The contents unpack to more than ${formatBytes(MOST_UNPACKED_BYTES)}, the limit.`);
  }
  if (packedBytes > maxBytes) {
    const message = `The contents are larger than ${formatBytes(maxBytes)}, the limit of this account.`;
    throw new AppError('limit', message);
  }
  if (!isWhole || here.length < found.length) throw new LackingContents();
  const storedBytes = pieces.reduce((sum, { name, size }) => (ZERO_PIECE_NAME.equals(name) ? sum : sum + size), 0);
  return { lists, pieces, counts, storedBytes, packedBytes, packs: new Set(here.map(({ path }) => path)) };
}

async function contentOf(submission: string | Buffer): Promise<Buffer> {
  return typeof submission === 'string' ? readFile(submission) : submission;
}

/** The names in lists, and whether the account has all of the lists. @throws AppError `bad-input` or `limit`, the signal's reason. */
async function readLists(
  store: Pick<ContentStore, 'read'>,
  account: string,
  lists: readonly Buffer[],
  signal: AbortSignal,
): Promise<{ readonly pieceNames: readonly Buffer[]; readonly counts: readonly number[]; readonly isWhole: boolean }> {
  const pieceNames: Buffer[] = [];
  const counts: number[] = [];
  // A submission can name one list many times.
  const listsByKey = new Map<string, readonly Buffer[]>();
  const yielder = new Yielder(signal);
  let isWhole = true;
  await using reader = new PackReader();
  for (const list of lists) {
    if (yielder.isDue) await yielder.pause();
    const key = list.toString('latin1');
    const frames = listsByKey.get(key) ?? (await readList(store, account, list, reader));
    isWhole &&= frames !== undefined;
    if (frames === undefined) continue;
    listsByKey.set(key, frames);
    if (pieceNames.length + frames.length > MAX_PIECES) throw tooManyPieces();
    for (const name of frames) pieceNames.push(name);
    counts.push(frames.length);
  }
  return { pieceNames, counts, isWhole };
}

/** The names in a list; undefined if the account lacks it. @throws AppError `bad-input` for a piece that is not a list. */
async function readList(
  store: Pick<ContentStore, 'read'>,
  account: string,
  list: Buffer,
  reader: PackReader,
): Promise<readonly Buffer[] | undefined> {
  const found = await store.read(account, list, reader);
  if (found === undefined) return undefined;
  const names = namesIn(Buffer.from(found.bytes));
  if (names === undefined) throw new AppError('bad-input', 'A list of the submission is not a list.');
  return names;
}
