import { rmdir } from 'node:fs/promises';
import { dirname } from 'node:path';

/**
 * Removes a folder that was created, and those above it up to `outermost`, unless they contain something.
 *
 * @param outermost what `mkdir` returned with `recursive`: the first folder that it created.
 */
export async function removeMade(folder: string, outermost: string): Promise<void> {
  for (let current = folder; current.length >= outermost.length; current = dirname(current)) {
    await rmdir(current).catch(() => {});
  }
}
