import { hash } from 'node:crypto';
import { rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { AppError } from '../../core/errors.ts';
import { Yielder } from '../../core/processes/yielder.ts';
import { MAX_PIECES, NAME_BYTES, nameOfPiece, namesIn } from '../../remote/protocol/contents.ts';
import { AccountPieces, isPackName, namesInFolder } from './accountPieces.ts';
import type { NewPiece } from './packFile.ts';
import { DamagedPack, PackReader, type PieceLocation, type ReadPiece } from './packReader.ts';
import { freePiece, unpackPiece } from '../../remote/transfers/pieceFrame.ts';

const KEEP_MS = 14 * 24 * 3_600_000;
const UNFINISHED_MS = 24 * 3_600_000;
const ACCOUNT = /^[0-9a-f]{32}$/;
// For where they are, each takes about 150 bytes.
const MAX_PIECES_IN_MEMORY = 2 * MAX_PIECES;

/**
 * The pieces of submissions that each account has sent, compressed, in one file for each request that sent some. Accounts share nothing,
 * so that nobody learns what others have. What was added survives a power loss. A file is complete or absent, and a piece is checked when
 * it is read: after a change by something else it counts as lacking and is sent again.
 */
export class ContentStore {
  readonly #root: string;
  /** By folder, the one used last at the end. */
  readonly #accounts = new Map<string, Promise<AccountPieces>>();

  /** @param data the service's data folder, which no job can see. */
  constructor(data: string) {
    this.#root = join(data, 'contents');
  }

  /** For each name, whether the account lacks the piece. Pieces that it has are kept for at least an hour. */
  async lacking(account: string, names: readonly Buffer[]): Promise<readonly boolean[]> {
    return (await this.locate(account, names)).map((location) => location === undefined);
  }

  /** For each name, whether the account lacks the list or a piece in it. @throws AppError `limit` if they name too many pieces. */
  async lackingLists(account: string, names: readonly Buffer[]): Promise<readonly boolean[]> {
    await this.locate(account, names);
    // A request can name one list many times.
    const lists = new Map<string, readonly Buffer[] | undefined>();
    let count = 0;
    const yielder = new Yielder();
    await using reader = new PackReader();
    for (const name of names) {
      if (yielder.isDue) await yielder.pause();
      const key = name.toString('hex');
      if (lists.has(key)) continue;
      const list = (await this.read(account, name, reader))?.bytes;
      count += (list?.length ?? 0) / NAME_BYTES;
      if (count > MAX_PIECES) throw tooManyPieces();
      lists.set(key, list && namesIn(Buffer.from(list)));
    }
    // All at once, so that each file is checked only once.
    const pieces = [...lists.values()].flatMap((list) => list ?? []);
    const found = await this.locate(account, pieces);
    const lacking = new Set<string>();
    let next = 0;
    for (const [key, list] of lists) {
      const end = next + (list?.length ?? 0);
      if (list === undefined || found.slice(next, end).includes(undefined)) lacking.add(key);
      next = end;
    }
    return names.map((name) => lacking.has(name.toString('hex')));
  }

  /** For each name, where the piece is; undefined if the account lacks it. Pieces that it has are kept for at least an hour. */
  async locate(account: string, names: readonly Buffer[]): Promise<readonly (PieceLocation | undefined)[]> {
    return (await this.#piecesOf(account)).findAll(names);
  }

  /**
   * Stores pieces, all or none of them.
   *
   * @param pieces their names and frames: the pieces, compressed.
   * @param maxBytes the most that the account may store; the least recently used pieces make room.
   * @throws AppError `bad-input` if a frame does not contain the piece with its name, `limit` if there is no room; errors of `pieces`.
   */
  async add(account: string, pieces: Iterable<Omit<NewPiece, 'size'>>, maxBytes: number): Promise<void> {
    const checked = new Map<string, NewPiece>();
    const yielder = new Yielder();
    for (const { name, frame } of pieces) {
      if (yielder.isDue) await yielder.pause();
      const piece = unpackPiece(frame);
      if (piece === undefined || !nameOfPiece(piece).equals(name)) {
        throw new AppError(
          'bad-input',
          'The contents of a piece do not have its SHA-256, so nothing of the request was stored.',
        );
      }
      checked.set(name.toString('hex'), { name, frame, size: piece.length });
      freePiece(piece);
    }
    const all = [...checked.values()];
    const accountPieces = await this.#piecesOf(account);
    const known = await accountPieces.findAll(all.map(({ name }) => name));
    const lacking = all.filter((_, index) => known[index] === undefined);
    if (lacking.length === 0) return;
    await accountPieces.add(lacking, maxBytes);
    await this.#unloadOthers(account);
  }

  /** A piece of the account; undefined if it lacks it. A pack in which it is damaged is deleted. */
  async read(account: string, name: Buffer, reader: PackReader): Promise<ReadPiece | undefined> {
    const location = (await this.#piecesOf(account)).find(name);
    if (location === undefined) return undefined;
    try {
      return await reader.read(location);
    } catch (error) {
      if (!(error instanceof DamagedPack)) throw error;
      await this.removePack(account, error.path);
      return undefined;
    }
  }

  /** Deletes a damaged pack, so that its pieces are sent again. @param pack the path of it, or of a link to it with the same name. */
  async removePack(account: string, pack: string): Promise<void> {
    const pieces = await this.#piecesOf(account);
    await pieces.removePack(pieces.pathOf(pack));
  }

  /** Deletes what was not used for two weeks, and what was being written when a service was killed. */
  async sweep(now: number): Promise<void> {
    for (const folder of await namesInFolder(this.#root)) {
      if (!ACCOUNT.test(folder)) continue;
      for (const name of await namesInFolder(join(this.#root, folder))) {
        const path = join(this.#root, folder, name);
        const stats = await stat(path).catch(() => undefined); // a request may just have removed it
        if (stats === undefined) continue;
        const keepMs = isPackName(name) ? KEEP_MS : UNFINISHED_MS;
        if (now - stats.mtimeMs <= keepMs) continue;
        (await this.#accounts.get(folder))?.forget(path);
        // Earlier versions had folders with a file for each piece.
        await rm(path, { recursive: true, force: true });
      }
    }
  }

  async #piecesOf(account: string): Promise<AccountPieces> {
    const folder = folderOf(account);
    const cachedPieces = this.#accounts.get(folder);
    const loading = cachedPieces ?? AccountPieces.load(join(this.#root, folder));
    this.#accounts.delete(folder);
    this.#accounts.set(folder, loading);
    if (cachedPieces !== undefined) return cachedPieces;
    try {
      await this.#unloadOthers(account);
      return await loading;
    } catch (error) {
      this.#accounts.delete(folder);
      throw error;
    }
  }

  /** Unloads the indexes of other accounts, the least recently used first, while all together take too much memory. */
  async #unloadOthers(account: string): Promise<void> {
    const folder = folderOf(account);
    const counts = new Map<string, number>();
    for (const [other, loading] of this.#accounts) {
      counts.set(other, await loading.then(({ count }) => count).catch(() => 0));
    }
    let total = [...counts.values()].reduce((sum, count) => sum + count, 0);
    for (const [other, count] of counts) {
      if (total <= MAX_PIECES_IN_MEMORY || other === folder) break;
      this.#accounts.delete(other);
      total -= count;
    }
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

/** Names of accounts can be any text; names of files cannot. */
function folderOf(account: string): string {
  return hash('sha256', account).slice(0, 32);
}
