import { chmod, lstat, readdir, rename, rmdir, unlink } from 'node:fs/promises';
import { sep } from 'node:path';
import { systemCode } from '../../core/errors.ts';
import { openFolder } from './openFolder.ts';

// A job can make folders in folders for as long as it likes, and systems take no path of more than 1,024 (macOS) or 4,096 bytes.
const LONGEST_PATH = 700;
// Each level keeps a handle open.
const MOST_OPEN = 32;

/**
 * Removes a file or a folder with all that is in it, and nothing that a link leads to, even one that is put in the place of a
 * folder meanwhile. Also folders that a job made read-only, names that are no UTF-8, and
 * paths that are too long to be named. What is not there is fine.
 *
 * `fs.rm` removes everything at once, which takes 40 MB for 40,000 files, and fails at such paths; this goes one by one.
 */
export async function removeTree(path: string): Promise<void> {
  // What lies too deep is lifted up beside the tree, and is a tree of its own from there on.
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
    await chmod(folder.path, 0o700);
    // Handles keep their paths short, and bytes stay what they are below a path that is none of the job's.
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
