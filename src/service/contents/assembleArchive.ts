import { open, readFile, stat } from 'node:fs/promises';
import { AppError } from '../../core/errors.ts';
import { formatBytes } from '../../core/text/format.ts';
import { MAX_LISTS, MAX_PIECES, NAME_BYTES, namesIn } from '../../remote/protocol/contents.ts';
import { type ContentStore, type ReadPiece, tooManyPieces } from './contentStore.ts';
import { FrameWriter } from './keptFrames.ts';

// What an archive may unpack to, and how many times its own size, as for those that are sent whole.
const MAX_BYTES = 20 * 2 ** 30;
const MAX_RATIO = 200;
const RATIO_COUNTS_FROM_BYTES = 32 * 2 ** 20;
// How often the free space is checked while the archive grows.
const CHECK_BYTES = 128 * 2 ** 20;

const READ_AHEAD = 8;

/** The pieces of a submission are not all there. The client asks again which are lacking. */
export class LackingContents extends Error {
  override readonly name = 'LackingContents';
}

export interface Assembly {
  readonly account: string;
  /** The file with the names of the lists. */
  readonly submission: string;
  /** The path of the new archive. */
  readonly archive: string;
  /** The most that the pieces may have together, compressed, each as often as it occurs: the limit for an archive. */
  readonly maxBytes: number;
  /** Returns why nothing more may be written to the disk; undefined if it may. */
  readonly diskRefusal: (bytes: number) => Promise<string | undefined>;
  readonly signal: AbortSignal;
}

/**
 * The tar stream of the archive that a submission by content describes: the same as that of the client's archive, whose entries are then
 * checked and unpacked like those of any other. Its pieces are also written to one file, which `readFrames` reads after a power loss.
 *
 * @throws AppError `bad-input` for a submission that is not a list of names, `limit` for one that is too large, `no-space` if the disk
 * is nearly full; LackingContents.
 */
export async function* assembleArchive(
  store: Pick<ContentStore, 'read'>,
  assembly: Assembly,
): AsyncGenerator<Buffer, void> {
  const { submission, archive } = assembly;
  const isTooLong = (await stat(submission)).size > MAX_LISTS * NAME_BYTES;
  const lists = isTooLong ? undefined : namesIn(await readFile(submission));
  if (lists === undefined || lists.length === 0) {
    throw new AppError('bad-input', 'The part "contents" must be the SHA-256 of each list of the submission.');
  }
  await using file = await open(archive, 'wx', 0o600);
  const kept = new FrameWriter((bytes) => file.writeFile(bytes));
  for await (const { bytes, frame } of piecesOf(store, assembly, lists)) {
    await kept.write(frame);
    yield bytes;
  }
  await kept.end();
}

async function* piecesOf(
  store: Pick<ContentStore, 'read'>,
  { account, maxBytes, diskRefusal, signal }: Assembly,
  lists: readonly Buffer[],
): AsyncGenerator<ReadPiece, void> {
  // All lists come first, because reading as many pieces as hostile ones can name would take hours.
  const { names, isWhole } = await readNames(store, account, lists);
  let total = 0;
  let packed = 0;
  let checked = -CHECK_BYTES;
  let isLacking = !isWhole;
  for await (const piece of readAhead(names, (name) => store.read(account, name))) {
    signal.throwIfAborted();
    isLacking ||= piece === undefined;
    if (piece === undefined) continue;
    total += piece.bytes.length;
    packed += piece.frame.length;
    const most = Math.min(MAX_BYTES, RATIO_COUNTS_FROM_BYTES + MAX_RATIO * packed);
    if (total > most) throw new AppError('limit', `The contents unpack to more than ${formatBytes(most)}, the limit.`);
    if (packed > maxBytes) {
      const message = `The contents are larger than ${formatBytes(maxBytes)}, the limit of this account.`;
      throw new AppError('limit', message);
    }
    // The rest is read all the same, so that everything that is damaged is found, and sent again, at once.
    if (isLacking) continue;
    if (total - checked > CHECK_BYTES) {
      checked = total;
      const refusal = await diskRefusal(CHECK_BYTES);
      if (refusal !== undefined) throw new AppError('no-space', refusal);
    }
    yield piece;
  }
  if (isLacking) throw new LackingContents('The service lacks contents of this submission. Send them first.');
}

/** The names in lists, and whether the account has all of the lists. @throws AppError `bad-input` or `limit`. */
async function readNames(
  store: Pick<ContentStore, 'read'>,
  account: string,
  lists: readonly Buffer[],
): Promise<{ readonly names: readonly Buffer[]; readonly isWhole: boolean }> {
  const names: Buffer[] = [];
  let isWhole = true;
  for (const list of lists) {
    const found = await store.read(account, list);
    isWhole &&= found !== undefined;
    if (found === undefined) continue;
    const own = namesIn(found.bytes);
    if (own === undefined) throw new AppError('bad-input', 'A list of the submission is not a list.');
    if (names.length + own.length > MAX_PIECES) throw tooManyPieces();
    for (const name of own) names.push(name);
  }
  return { names, isWhole };
}

/** The results of `read` in order, several of them in progress. */
async function* readAhead<T>(names: readonly Buffer[], read: (name: Buffer) => Promise<T>): AsyncGenerator<T, void> {
  const open: Promise<T>[] = [];
  for (const name of names) {
    const next = read(name);
    next.catch(() => {}); // awaited in its turn
    open.push(next);
    const first = open.length < READ_AHEAD ? undefined : open.shift();
    if (first !== undefined) yield await first;
  }
  for (const rest of open) yield await rest;
}
