import { createHash } from 'node:crypto';
import { type BigIntStats, lstatSync } from 'node:fs';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { openRegularFile } from './fileReading.ts';

const COMPARED_BYTES = 1 << 20;

/** What is in the way of a file: a folder in its place, or something else in place of a folder above it. */
export interface Obstacle {
  readonly path: string;
  readonly kind: 'file' | 'folder' | 'link';
}

/** What is at a path, without following links. */
export type LocalFile =
  | { readonly type: 'none' }
  | { readonly type: 'blocked'; readonly by: Obstacle }
  | { readonly type: 'file' | 'other'; readonly size: number; readonly mark: string };

/** Inspects paths in one folder; each parent folder is inspected only once. */
export class LocalFiles {
  readonly #root: string;
  readonly #folders = new Map<string, 'folder' | 'none' | { readonly by: Obstacle }>();

  constructor(root: string) {
    this.#root = root;
  }

  look(path: string): LocalFile {
    const above = this.#lookAbove(path);
    if (above === 'none') return { type: 'none' };
    if (above !== 'folder') return { type: 'blocked', by: above.by };
    const stats = lstatSync(join(this.#root, path), { bigint: true, throwIfNoEntry: false });
    if (stats === undefined) return { type: 'none' };
    if (stats.isDirectory()) return { type: 'blocked', by: { path, kind: 'folder' } };
    return { type: stats.isFile() ? 'file' : 'other', size: Number(stats.size), mark: markOf(stats) };
  }

  #lookAbove(path: string): 'folder' | 'none' | { readonly by: Obstacle } {
    const slash = path.lastIndexOf('/');
    if (slash === -1) return 'folder';
    const folder = path.slice(0, slash);
    const cached = this.#folders.get(folder);
    if (cached !== undefined) return cached;
    const above = this.#lookAbove(folder);
    const state = above === 'folder' ? this.#lookAt(folder) : above;
    this.#folders.set(folder, state);
    return state;
  }

  #lookAt(folder: string): 'folder' | 'none' | { readonly by: Obstacle } {
    const stats = lstatSync(join(this.#root, folder), { throwIfNoEntry: false });
    if (stats === undefined) return 'none';
    if (stats.isDirectory()) return 'folder';
    return { by: { path: folder, kind: stats.isSymbolicLink() ? 'link' : 'file' } };
  }
}

/** A mark that changes whenever the file is written or replaced. Starts with device and inode. */
export function markOf({ dev, ino, size, mtimeNs, ctimeNs }: BigIntStats): string {
  return [dev, ino, size, mtimeNs, ctimeNs].join(':');
}

/** SHA-256 of a regular file, in lower-case hexadecimal. @throws AppError if it cannot be read. */
export async function hashFile(root: string, path: string): Promise<string> {
  const { handle } = await openRegularFile(join(root, path), path);
  try {
    const digest = createHash('sha256');
    await pipeline(handle.createReadStream({ autoClose: false, highWaterMark: 1 << 20 }), digest);
    return digest.digest('hex');
  } finally {
    await handle.close();
  }
}

/** Whether two regular files have the same bytes. Ends at the first difference, where hashes would need the rest. @throws AppError if one cannot be read. */
export async function haveSameContents(one: string, other: string): Promise<boolean> {
  await using first = (await openRegularFile(one, one)).handle;
  await using second = (await openRegularFile(other, other)).handle;
  const files = [first, second].map((file) => ({ file, buffer: Buffer.allocUnsafeSlow(COMPARED_BYTES) }));
  for (let position = 0; ; position += COMPARED_BYTES) {
    const [a, b] = await Promise.all(
      files.map(async ({ file, buffer }) => {
        const { bytesRead } = await file.read(buffer, 0, COMPARED_BYTES, position);
        return buffer.subarray(0, bytesRead);
      }),
    );
    if (a === undefined || b === undefined || !a.equals(b)) return false;
    if (a.length < COMPARED_BYTES) return true;
  }
}
