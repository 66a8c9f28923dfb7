import { closeSync, constants, existsSync, fstatSync, lstatSync, openSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { AppError, systemCode } from '../../core/errors.ts';

// With this flag, Linux opens a folder without permission to list it. Node.js has no name for it.
const O_PATH = 0o10000000;
const OPEN_FOLDER = O_PATH | (constants.O_DIRECTORY ?? 0);
const OPEN_REAL_FOLDER = OPEN_FOLDER | (constants.O_NOFOLLOW ?? 0);
const HANDLES = '/proc/self/fd';
const MOST_OPEN = 64;
const LINK_IN_PLACE = new Set(['ENOTDIR', 'ELOOP']);

/**
 * The folders of a tree, each pinned when it is first used: later operations use that very folder, even if its path leads elsewhere by
 * then. No link below the root is followed.
 *
 * On Linux each folder is opened once and used through its handle: Node.js has no `openat`, but a path through `/proc/self/fd` does the
 * same. Elsewhere, the folder's device and inode are compared before each use.
 */
export class PinnedFolders {
  readonly #root: string;
  readonly #rootHandle: number | undefined;
  readonly #identities = new Map<string, string>();
  readonly #handles = new Map<string, number>();
  /** The last used folder, since files arrive folder by folder. */
  #last: { readonly folder: string; readonly path: string } | undefined;

  /**
   * @param platform for tests; this system by default.
   * @throws the system's error if `root` is not a folder; it may be a link to one.
   */
  constructor(root: string, isRealFolder = false, platform: string = process.platform) {
    this.#root = root;
    const hasHandles = platform === 'linux' && existsSync(HANDLES);
    this.#rootHandle = hasHandles ? openSync(root, isRealFolder ? OPEN_REAL_FOLDER : OPEN_FOLDER) : undefined;
    if (this.#rootHandle === undefined) this.#identities.set('', rootIdentity(root, isRealFolder));
  }

  /**
   * The path for one system call on `path`, which is relative to the root with `/`. Its parent folders must exist.
   *
   * @throws AppError `refused` if one of them is a link, a file, or another folder than before, and the system's error if one does not
   * exist.
   */
  at(path: string): string {
    const slash = path.lastIndexOf('/');
    if (this.#last?.folder.length === slash && path.startsWith(this.#last.folder)) {
      return this.#last.path + path.slice(slash);
    }
    const folder = slash === -1 ? '' : path.slice(0, slash);
    if (this.#rootHandle === undefined) return join(this.#checked(folder), path.slice(slash + 1));
    const absolute = `${HANDLES}/${this.#handle(folder)}`;
    if (slash !== -1) this.#last = { folder, path: absolute };
    return `${absolute}/${path.slice(slash + 1)}`;
  }

  /** The same for a folder itself, to list it. */
  folder(path: string): string {
    return this.#rootHandle === undefined ? this.#checked(path) : `${HANDLES}/${this.#handle(path)}/.`;
  }

  /** Releases a folder that is being removed and may be created again. */
  forget(path: string): void {
    const handle = this.#handles.get(path);
    if (handle !== undefined) this.#close(path, handle);
    this.#identities.delete(path);
  }

  dispose(): void {
    for (const handle of this.#handles.values()) closeSync(handle);
    this.#handles.clear();
    if (this.#rootHandle !== undefined) closeSync(this.#rootHandle);
  }

  #handle(folder: string): number {
    if (folder === '') return this.#rootHandle ?? -1;
    const open = this.#handles.get(folder);
    if (open !== undefined) return open;
    const handle = openRealFolder(this.at(folder), folder);
    try {
      this.#compare(folder, identityOf(fstatSync(handle, { bigint: true })));
    } catch (error) {
      closeSync(handle);
      throw error;
    }
    this.#handles.set(folder, handle);
    const [oldest] = this.#handles;
    if (this.#handles.size > MOST_OPEN && oldest !== undefined) this.#close(...oldest);
    return handle;
  }

  #close(folder: string, handle: number): void {
    closeSync(handle);
    this.#handles.delete(folder);
    if (this.#last?.folder === folder) this.#last = undefined;
  }

  #checked(folder: string): string {
    const absolute = folder === '' ? this.#root : this.at(folder);
    const stats = folder === '' ? statSync(absolute, { bigint: true }) : lstatSync(absolute, { bigint: true });
    if (!stats.isDirectory()) throw replaced(folder || this.#root);
    this.#compare(folder, identityOf(stats));
    return absolute;
  }

  #compare(folder: string, identity: string): void {
    const pinned = this.#identities.get(folder);
    if (pinned === undefined) this.#identities.set(folder, identity);
    else if (pinned !== identity) throw replaced(folder || this.#root);
  }
}

function openRealFolder(path: string, folder: string): number {
  try {
    return openSync(path, OPEN_REAL_FOLDER);
  } catch (error) {
    if (LINK_IN_PLACE.has(systemCode(error) ?? '')) throw replaced(folder, error);
    throw error;
  }
}

function rootIdentity(root: string, isRealFolder: boolean): string {
  const stats = isRealFolder ? lstatSync(root, { bigint: true }) : statSync(root, { bigint: true });
  // As Linux reports it when it opens the root.
  if (!stats.isDirectory()) throw Object.assign(new Error(`ENOTDIR: not a directory, ${root}`), { code: 'ENOTDIR' });
  return identityOf(stats);
}

function identityOf({ dev, ino }: { readonly dev: bigint; readonly ino: bigint }): string {
  return `${dev}:${ino}`;
}

function replaced(folder: string, cause?: unknown): AppError {
  return new AppError(
    'refused',
    `${folder} was replaced by something else while files were written into it, so nothing more was written. Check what writes to this folder, and try again.`,
    { cause },
  );
}
