import { randomUUID } from 'node:crypto';
import { mkdir, readdir, rm, utimes } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import pLimit from 'p-limit';
import { AppError, systemCode } from '../../core/errors.ts';
import { writeAtomically } from '../../core/files/atomicFile.ts';
import { syncFolder } from '../../core/files/durableFiles.ts';
import { statIfThere } from '../../core/files/ifThere.ts';
import { Yielder } from '../../core/processes/yielder.ts';
import { MAX_PIECES } from '../../remote/protocol/contents.ts';
import { encodePack, type NewPiece, type Pack, readPack } from './packFile.ts';
import type { PieceLocation } from './packReader.ts';

// A submission in progress needs the pieces that were reported as present.
const IN_USE_MS = 3_600_000;
// A pack that was marked as used recently need not be marked again.
const MARK_EVERY_MS = 600_000;
const FILES_AT_ONCE = 16;
// The minimum that a piece counts, because even a small one takes memory.
const LEAST_BYTES = 4096;
const PACK = /^\d{15}-[0-9a-f-]{36}\.pack$/;

interface StoredPack {
  readonly fileBytes: number;
  /** What it counts. */
  readonly bytes: number;
  readonly keys: readonly string[];
}

export function isPackName(name: string): boolean {
  return PACK.test(name);
}

/** The pieces of one account: its packs, and in memory where each piece is. */
export class AccountPieces {
  readonly #folder: string;
  readonly #packs = new Map<string, StoredPack>();
  readonly #pieces = new Map<string, PieceLocation>();
  readonly #writing = pLimit(1);
  /** What all packs count, with those that are being written. */
  #bytes = 0;

  private constructor(folder: string) {
    this.#folder = folder;
  }

  /** Reads the index of each pack. A damaged one is deleted: its pieces count as lacking. */
  static async load(folder: string): Promise<AccountPieces> {
    const account = new AccountPieces(folder);
    const limit = pLimit(FILES_AT_ONCE);
    // The newest comes last, so that its pieces take the place of damaged ones in an older pack.
    const paths = (await namesInFolder(folder))
      .filter(isPackName)
      .toSorted()
      .map((name) => join(folder, name));
    const packs = await Promise.all(paths.map((path) => limit(() => readPack(path).catch(() => undefined))));
    const yielder = new Yielder();
    for (const [index, path] of paths.entries()) {
      if (yielder.isDue) await yielder.pause();
      const pack = packs[index];
      if (pack === undefined) await rm(path, { force: true });
      else account.#insert(path, pack);
    }
    return account;
  }

  get count(): number {
    return this.#pieces.size;
  }

  /** Where a piece is; undefined if the account lacks it. */
  find(name: Buffer): PieceLocation | undefined {
    return this.#pieces.get(name.toString('latin1'));
  }

  /** Where pieces are. Their packs are marked as used, and were checked to be complete. */
  async findAll(names: readonly Buffer[]): Promise<readonly (PieceLocation | undefined)[]> {
    const packs = new Set((await this.#locate(names)).flatMap((location) => location?.path ?? []));
    const limit = pLimit(FILES_AT_ONCE);
    await Promise.all([...packs].map((path) => limit(() => this.#mark(path))));
    return this.#locate(names);
  }

  /** Stores pieces that the account lacks in one pack, which is on the disk then. @throws AppError `limit` if there is no room. */
  async add(pieces: readonly NewPiece[], maxBytes: number): Promise<void> {
    const { parts, pack } = encodePack(pieces);
    // Counted before it is written, because others are added meanwhile.
    const packBytes = countedBytes(pack);
    this.#bytes += packBytes;
    try {
      await this.#writing(() => this.#makeRoom(maxBytes, pieces.length));
      const firstCreated = await mkdir(this.#folder, { recursive: true, mode: 0o700 });
      const time = String(Date.now()).padStart(15, '0');
      const path = join(this.#folder, `${time}-${randomUUID()}.pack`);
      await writeAtomically(path, parts, { isDurable: true });
      if (firstCreated !== undefined)
        for (let up = this.#folder; up !== dirname(firstCreated); ) await syncFolder((up = dirname(up)));
      this.#insert(path, pack);
    } finally {
      this.#bytes -= packBytes;
    }
  }

  /** Deletes a pack, so that its pieces count as lacking. */
  async removePack(path: string): Promise<void> {
    this.forget(path);
    await rm(path, { force: true });
  }

  /** Forgets a pack whose file is gone. */
  forget(path: string): void {
    const pack = this.#packs.get(path);
    if (pack === undefined) return;
    this.#packs.delete(path);
    this.#bytes -= pack.bytes;
    for (const key of pack.keys) if (this.#pieces.get(key)?.path === path) this.#pieces.delete(key);
  }

  /** The path of a pack of this name, whether it exists or not. */
  pathOf(pack: string): string {
    return join(this.#folder, basename(pack));
  }

  /** A piece that was deleted in the meantime counts as lacking when it is read. */
  async #locate(names: readonly Buffer[]): Promise<readonly (PieceLocation | undefined)[]> {
    const found: (PieceLocation | undefined)[] = [];
    const yielder = new Yielder();
    for (const name of names) {
      if (yielder.isDue) await yielder.pause();
      found.push(this.find(name));
    }
    return found;
  }

  #insert(path: string, pack: Pack): void {
    const keys = pack.entries.map((entry) => {
      const key = entry.name.toString('latin1');
      this.#pieces.set(key, { ...entry, path });
      return key;
    });
    const bytes = countedBytes(pack);
    this.#packs.set(path, { fileBytes: pack.fileBytes, bytes, keys });
    this.#bytes += bytes;
  }

  /** Marks a pack as used. One that is gone or truncated is forgotten. */
  async #mark(path: string): Promise<void> {
    const pack = this.#packs.get(path);
    if (pack === undefined) return;
    const now = Date.now();
    const stats = await statIfThere(path);
    if (stats === undefined) this.forget(path);
    else if (stats.size !== pack.fileBytes) await this.removePack(path);
    else if (now - stats.mtimeMs > MARK_EVERY_MS) await utimes(path, now / 1_000, now / 1_000);
  }

  /** Deletes the packs that were not used for longest, never those of submissions in progress. @throws AppError `limit`. */
  async #makeRoom(maxBytes: number, more: number): Promise<void> {
    const isFull = (share: number): boolean =>
      this.#bytes > maxBytes * share || this.#pieces.size + more > MAX_PIECES * share;
    if (!isFull(1)) return;
    const used = await Promise.all(
      [...this.#packs.keys()].map(async (path) => ({ path, usedAt: (await statIfThere(path))?.mtimeMs ?? 0 })),
    );
    for (const { path, usedAt } of used.toSorted((a, b) => a.usedAt - b.usedAt)) {
      // Frees more than one pack needs, because reading the times of all packs is slow.
      if (!isFull(0.9) || Date.now() - usedAt < IN_USE_MS) break;
      await this.removePack(path);
    }
    if (!isFull(1)) return;
    const message =
      'The contents that this account sent in the last hour fill its space on the service. Send the archive instead.';
    throw new AppError('limit', message);
  }
}

function countedBytes({ entries }: Pack): number {
  return entries.reduce((sum, { bytes }) => sum + Math.max(bytes, LEAST_BYTES), 0);
}

/** The names in a folder; none if it is not there. */
export async function namesInFolder(path: string): Promise<readonly string[]> {
  return readdir(path).catch((error: unknown) => {
    if (['ENOENT', 'ENOTDIR'].includes(systemCode(error) ?? '')) return [];
    throw error;
  });
}
