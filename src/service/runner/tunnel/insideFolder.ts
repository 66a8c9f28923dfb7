import { constants, type BigIntStats } from 'node:fs';
import { type FileHandle, lstat, open, readlink, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { AppError, systemCode } from '../../../core/errors.ts';
import { pathInside } from '../../../core/files/pathInside.ts';
import { encodeName } from '../../../workspace/archive/tarFields.ts';

// Linux opens what a path leads to without any effect on it, as a pipe or a device could have. Node.js has no name for it.
const O_PATH = 0o10000000;
const OPEN_FOLDER = constants.O_RDONLY | (constants.O_DIRECTORY ?? 0);
const OPEN_FILE = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0);
const HANDLES = '/proc/self/fd';
const SLASH = Buffer.from('/');

/** Something in a folder, which stays that whatever happens to its path. */
export interface PinnedEntry extends AsyncDisposable {
  readonly stats: BigIntStats;
  /** The path for calls that list a folder, or for those on entries in it. */
  readonly at: string;
  /** Opens a regular file for reading. */
  read(): Promise<FileHandle>;
}

/**
 * A folder of a job that runs, which may replace a part of a path by a link at any moment. Links are followed if they lead to something in
 * the folder.
 *
 * On Linux, a path is first opened with all its links but without effect; then the system reports where the result lies; then that very
 * result is used, through its handle. Elsewhere, the path is resolved before, which leaves a moment in which it may change.
 */
export class InsideFolder implements AsyncDisposable {
  readonly #path: string;
  #root: Promise<FileHandle> | undefined;

  constructor(path: string) {
    this.#path = path;
  }

  /**
   * Pins what is at a path that is relative to the folder, with `/`; empty for the folder itself. Bytes that are not valid UTF-8 are as
   * `decodeName` returns them.
   *
   * @throws AppError `missing`, `refused` if it lies outside, `permission`.
   */
  async pin(path: string): Promise<PinnedEntry> {
    try {
      return process.platform === 'linux' ? await this.#pinHandle(path) : await this.#pinResolved(path);
    } catch (error) {
      throw accessFailure(error, path);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await (await this.#root?.catch(() => undefined))?.close();
  }

  async #pinHandle(path: string): Promise<PinnedEntry> {
    this.#root ??= open(this.#path, O_PATH | OPEN_FOLDER | constants.O_NOFOLLOW);
    const root = `${HANDLES}/${(await this.#root).fd}`;
    const handle = await open(joinName(`${root}/.`, path), O_PATH);
    try {
      const at = `${HANDLES}/${handle.fd}`;
      const [folder, target] = await Promise.all([root, at].map((link) => readlink(link, { encoding: 'buffer' })));
      if (folder === undefined || target === undefined || !startsWith(target, folder)) throw outside(path);
      const stats = await handle.stat({ bigint: true });
      return {
        stats,
        at: `${at}/.`,
        read: () => open(at, OPEN_FILE),
        [Symbol.asyncDispose]: () => handle.close(),
      };
    } catch (error) {
      await handle.close();
      throw error;
    }
  }

  async #pinResolved(path: string): Promise<PinnedEntry> {
    const root = await realpath(this.#path);
    const real = await realpath(join(root, path));
    if (pathInside(root, real) === undefined) throw outside(path);
    const stats = await lstat(real, { bigint: true });
    return {
      stats,
      at: real,
      read: () => open(real, OPEN_FILE | (constants.O_NOFOLLOW ?? 0)),
      [Symbol.asyncDispose]: async () => {},
    };
  }
}

/** The path of an entry in a folder whose path is for calls of the system. */
export function joinName(folder: string, name: string): string | Buffer {
  if (name === '') return folder;
  const encoded = encodeName(name);
  return typeof encoded === 'string' ? `${folder}/${encoded}` : Buffer.concat([Buffer.from(folder), SLASH, encoded]);
}

function startsWith(path: Buffer, folder: Buffer): boolean {
  return path.equals(folder) || path.subarray(0, folder.length + 1).equals(Buffer.concat([folder, SLASH]));
}

function outside(path: string): AppError {
  return new AppError('refused', `${path} leads out of the job’s folder, so it is not shown.`);
}

function accessFailure(error: unknown, path: string): unknown {
  const name = path === '' ? 'The job’s folder' : path;
  switch (systemCode(error) ?? '') {
    case 'ENOENT':
    case 'ENOTDIR':
      return new AppError('missing', `${name} does not exist in the job.`, { cause: error });
    case 'ELOOP':
      return new AppError('missing', `${name} is a link that leads nowhere.`, { cause: error });
    case 'EACCES':
    case 'EPERM':
      return new AppError('permission', `The job itself may not read ${name}.`, { cause: error });
    default:
      return error;
  }
}
