import { chmod, lstat, open, readdir, rename, rmdir, unlink } from 'node:fs/promises';
import { sep } from 'node:path';
import { constants, existsSync } from 'node:fs';
import { AppError, systemCode } from '../../core/errors.ts';

// A job can nest folders without limit, and systems accept paths of at most 1,024 (macOS) or 4,096 bytes.
const LONGEST_PATH = 700;
// Each level keeps a descriptor open.
const MOST_OPEN = 32;
const FOLDER = constants.O_RDONLY | (constants.O_DIRECTORY ?? 0) | (constants.O_NOFOLLOW ?? 0);

/** A folder that stays the same until it is disposed, whatever replaces it. */
interface OpenFolder extends AsyncDisposable {
  /** The path through which the folder's contents are accessed. */
  readonly path: string;
}

/**
 * Deletes a file or a folder with all its contents, if it exists. Never follows a link, even one that replaces a folder meanwhile.
 * Also deletes folders that a job made read-only, names that are not UTF-8, and paths that are too long for the system.
 *
 * `fs.rm` deletes everything at once, which takes 40 MB for 40,000 files, and fails for such paths. This deletes one by one.
 */
export async function removeTree(path: string): Promise<void> {
  // Folders that are too deep are moved beside the tree, and are trees of their own from then on.
  const trees = [Buffer.from(path)];
  const lift = async (folder: Buffer): Promise<void> => {
    const lifted = Buffer.from(`${path}.${trees.length}.deep`);
    await rename(folder, lifted);
    trees.push(lifted);
  };
  for (const tree of trees) {
    try {
      if ((await lstat(tree)).isDirectory()) await removeFolder(tree, lift);
      else await unlink(tree);
    } catch (error) {
      if (systemCode(error) !== 'ENOENT') throw error;
    }
  }
}

async function removeFolder(path: Buffer, lift: (folder: Buffer) => Promise<void>, depth = 0): Promise<void> {
  {
    await using folder = await openFolder(path);
    await chmod(folder.path, 0o700).catch((error: unknown) => {
      // A folder that the user of a job has made, in one that is shared with that user: the service may have permission all the same.
      if (systemCode(error) !== 'EPERM') throw error;
    });
    // Paths through descriptors are short, and bytes below them are unchanged, because they contain no name that the job chose.
    const inside = folder.path.startsWith('/proc/') ? Buffer.from(folder.path) : path;
    for (const entry of await readdir(inside, { withFileTypes: true, encoding: 'buffer' })) {
      const child = Buffer.concat([inside, Buffer.from(sep), entry.name]);
      if (!entry.isDirectory()) await unlink(child);
      else if (child.length > LONGEST_PATH || depth > MOST_OPEN) await lift(child);
      else await removeFolder(child, lift, depth + 1);
    }
  }
  await rmdir(path);
}

/**
 * Opens a folder that jobs can write to. Nodes of a cluster could replace it with a link to something that jobs cannot access, and
 * the service would follow it. So on Linux the folder is accessed through its descriptor; other systems only run their own jobs.
 *
 * @throws AppError `corrupt` for a link or anything else that is not a folder, or the system's error.
 */
export async function openFolder(path: string | Buffer): Promise<OpenFolder> {
  if (process.platform !== 'linux' || !existsSync('/proc/self/fd')) {
    return { path: path.toString(), [Symbol.asyncDispose]: () => Promise.resolve() };
  }
  const handle = await open(path, FOLDER).catch(async (error: unknown) => {
    if (['ELOOP', 'ENOTDIR'].includes(systemCode(error) ?? '')) throw replaced(path, error);
    if (systemCode(error) !== 'EACCES') throw error;
    await chmod(path, 0o700); // a job removed its own permissions
    return open(path, FOLDER);
  });
  return { path: `/proc/self/fd/${handle.fd}`, [Symbol.asyncDispose]: () => handle.close() };
}

function replaced(path: string | Buffer, cause: unknown): AppError {
  const message = `Something other than the service replaced the folder ${path.toString()} with a link or a file, which is not followed. Restore the folder, or delete the link.`;
  return new AppError('corrupt', message, { cause });
}
