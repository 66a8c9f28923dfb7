import { hash } from 'node:crypto';
import { mkdir, readdir, readFile, rm, stat, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import pLimit from 'p-limit';
import { AppError, systemCode } from '../../core/errors.ts';
import { writeAtomically } from '../../core/files/atomicFile.ts';
import { MAX_PIECES, NAME_BYTES, nameOfPiece, namesIn } from '../../remote/protocol/contents.ts';
import { unpackPiece } from './unpackPiece.ts';

const KEEP_MS = 14 * 24 * 3_600_000;
// A submission that is in progress needs the pieces that it was answered about.
const IN_USE_MS = 3_600_000;
const UNFINISHED_MS = 24 * 3_600_000;
// A piece that is asked about again soon need not be marked again.
const MARK_EVERY_MS = 600_000;
const FILES_AT_ONCE = 16;
// What a file takes on most disks, however small it is.
const BLOCK_BYTES = 4096;
const ACCOUNT = /^[0-9a-f]{32}$/;
const PIECE = /^[0-9a-f]{64}$/;

export interface ReadPiece {
  readonly bytes: Buffer;
  /** The same, compressed. */
  readonly frame: Buffer;
}

interface Stored {
  readonly path: string;
  /** On the disk. */
  readonly bytes: number;
  readonly usedAt: number;
}

/**
 * The pieces of submissions that each account has sent, compressed, one file each. Accounts share nothing, so that nobody learns what
 * others have. A file is complete or absent, and its contents are checked when it is read: after a power loss, or a change by
 * something else, a piece counts as lacking and is sent again.
 */
export class ContentStore {
  readonly #root: string;
  readonly #limit = pLimit(FILES_AT_ONCE);
  readonly #evicting = pLimit(1);
  /** The bytes in each account's folder, after they were counted once. */
  readonly #sizes = new Map<string, number>();

  /** @param data the service's data folder, which no job can see. */
  constructor(data: string) {
    this.#root = join(data, 'contents');
  }

  /** For each name, whether the account lacks the piece. What it has stays for an hour at least. */
  async lacking(account: string, names: readonly Buffer[]): Promise<readonly boolean[]> {
    return Promise.all(names.map((name) => this.#limit(async () => !(await this.#mark(this.#path(account, name))))));
  }

  /** For each name, whether the account lacks the list or a piece in it. @throws AppError `limit` if they name too many pieces. */
  async lackingLists(account: string, names: readonly Buffer[]): Promise<readonly boolean[]> {
    // A request can name one list many times.
    const lists = new Map<string, readonly Buffer[] | undefined>();
    let count = 0;
    for (const name of names) {
      const key = name.toString('hex');
      if (lists.has(key)) continue;
      const list = (await this.#mark(this.#path(account, name))) ? await this.read(account, name) : undefined;
      count += (list?.bytes.length ?? 0) / NAME_BYTES;
      if (count > MAX_PIECES) throw tooManyPieces();
      lists.set(key, list && namesIn(list.bytes));
    }
    const lacking = new Set<string>();
    for (const [key, pieces] of lists) {
      if (pieces === undefined || (await this.lacking(account, pieces)).includes(true)) lacking.add(key);
    }
    return names.map((name) => lacking.has(name.toString('hex')));
  }

  /**
   * Stores a piece.
   *
   * @param frame the piece, compressed.
   * @param maxBytes the most that the account may store; the pieces that were not used for longest make room.
   * @throws AppError `bad-input` if the frame does not contain the piece with this name, `limit` if there is no room.
   */
  async add(account: string, name: Buffer, frame: Buffer, maxBytes: number): Promise<void> {
    const piece = unpackPiece(frame);
    if (piece === undefined || !nameOfPiece(piece).equals(name)) {
      throw new AppError('bad-input', 'The contents of a piece do not have its SHA-256, so nothing of it was stored.');
    }
    const path = this.#path(account, name);
    if (await this.#mark(path)) return;
    const folder = folderOf(account);
    await this.#loadSize(folder);
    // Counted before it is written, because others are added meanwhile.
    this.#resize(folder, onDisk(frame.length));
    try {
      await this.#evicting(() => this.#makeRoom(folder, maxBytes));
      await mkdir(join(path, '..'), { recursive: true, mode: 0o700 });
      await writeAtomically(path, frame);
    } catch (error) {
      this.#resize(folder, -onDisk(frame.length));
      throw error;
    }
  }

  /** A piece of the account; undefined if it lacks it. A damaged one is deleted. */
  async read(account: string, name: Buffer): Promise<ReadPiece | undefined> {
    const path = this.#path(account, name);
    try {
      const frame = await readFile(path);
      const bytes = unpackPiece(frame);
      if (bytes !== undefined && nameOfPiece(bytes).equals(name)) return { bytes, frame };
      await this.#remove(folderOf(account), { path, bytes: onDisk(frame.length) });
      return undefined;
    } catch (error) {
      if (systemCode(error) === 'ENOENT') return undefined;
      throw error;
    }
  }

  /** Deletes pieces that were not used for two weeks, and what was being written when a service was killed. */
  async sweep(now: number): Promise<void> {
    for (const folder of await namesInFolder(this.#root)) {
      if (!ACCOUNT.test(folder)) continue;
      for (const stored of await this.#list(folder)) {
        const isUnfinished = !PIECE.test(stored.path.slice(-64));
        if (now - stored.usedAt > (isUnfinished ? UNFINISHED_MS : KEEP_MS)) await this.#remove(folder, stored);
      }
    }
  }

  /** Deletes the pieces that were not used for longest, never those of submissions in progress. @throws AppError `limit`. */
  async #makeRoom(folder: string, maxBytes: number): Promise<void> {
    if (this.#sizeOf(folder) <= maxBytes) return;
    const stored = (await this.#list(folder)).toSorted((a, b) => a.usedAt - b.usedAt);
    for (const each of stored) {
      // More than one piece needs, because listing them takes time.
      if (this.#sizeOf(folder) <= maxBytes * 0.9 || Date.now() - each.usedAt < IN_USE_MS) break;
      await this.#remove(folder, each);
    }
    if (this.#sizeOf(folder) <= maxBytes) return;
    const message =
      'The contents that this account sent in the last hour fill its space on the service. Send the archive instead.';
    throw new AppError('limit', message);
  }

  async #remove(folder: string, { path, bytes }: Pick<Stored, 'path' | 'bytes'>): Promise<void> {
    await rm(path, { force: true });
    this.#resize(folder, -bytes);
  }

  /** Counts the bytes of an account unless they are known. */
  async #loadSize(folder: string): Promise<void> {
    if (this.#sizes.has(folder)) return;
    const size = (await this.#list(folder)).reduce((sum, { bytes }) => sum + bytes, 0);
    if (!this.#sizes.has(folder)) this.#sizes.set(folder, size);
  }

  #sizeOf(folder: string): number {
    return this.#sizes.get(folder) ?? 0;
  }

  /** Does nothing before they were counted. */
  #resize(folder: string, bytes: number): void {
    const size = this.#sizes.get(folder);
    if (size !== undefined) this.#sizes.set(folder, size + bytes);
  }

  async #list(folder: string): Promise<readonly Stored[]> {
    const found: Stored[] = [];
    for (const part of await namesInFolder(join(this.#root, folder))) {
      for (const name of await namesInFolder(join(this.#root, folder, part))) {
        const path = join(this.#root, folder, part, name);
        const stats = await stat(path).catch(() => undefined); // another request may just have removed it
        if (stats?.isFile() === true) found.push({ path, bytes: onDisk(stats.size), usedAt: stats.mtimeMs });
      }
    }
    return found;
  }

  /** Notes that a piece is used. @returns whether it exists. */
  async #mark(path: string): Promise<boolean> {
    try {
      const now = Date.now();
      if (now - (await stat(path)).mtimeMs > MARK_EVERY_MS) await utimes(path, now / 1_000, now / 1_000);
      return true;
    } catch (error) {
      if (systemCode(error) === 'ENOENT') return false;
      throw error;
    }
  }

  #path(account: string, name: Buffer): string {
    const text = name.toString('hex');
    return join(this.#root, folderOf(account), text.slice(0, 2), text);
  }
}

/** @returns the error for a submission, or a question about one, with more pieces than any archive has. */
export function tooManyPieces(): AppError {
  const most = MAX_PIECES.toLocaleString('en-US');
  return new AppError(
    'limit',
    `The contents consist of more than ${most} pieces, the limit. Send the archive instead.`,
  );
}

function onDisk(bytes: number): number {
  return Math.ceil(bytes / BLOCK_BYTES) * BLOCK_BYTES;
}

/** Names of accounts can be any text; names of files cannot. */
function folderOf(account: string): string {
  return hash('sha256', account).slice(0, 32);
}

async function namesInFolder(path: string): Promise<readonly string[]> {
  return readdir(path).catch((error: unknown) => {
    if (['ENOENT', 'ENOTDIR'].includes(systemCode(error) ?? '')) return [];
    throw error;
  });
}
