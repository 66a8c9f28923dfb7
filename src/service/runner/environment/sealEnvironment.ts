import { execFile } from 'node:child_process';
import { chmod, lstat, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { findProgram } from '../../../core/processes/findProgram.ts';

const WRITE_BITS = 0o222;

/**
 * Makes an environment read-only, so that no job changes what later jobs use, and waits until it is on the disk, so that a power loss
 * leaves no part of it behind a record that says that it is complete.
 *
 * @returns its size in bytes.
 */
export async function sealEnvironment(folder: string): Promise<number> {
  const bytes = await makeReadOnly(folder);
  const sync = process.platform === 'linux' ? findProgram('sync', process.env['PATH'] ?? '') : undefined;
  if (sync !== undefined) await promisify(execFile)(sync, ['--file-system', folder]);
  return bytes;
}

async function makeReadOnly(folder: string): Promise<number> {
  let bytes = 0;
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) bytes += await makeReadOnly(path);
    else if (entry.isFile()) {
      const { size, mode } = await lstat(path);
      bytes += size;
      await chmod(path, mode & ~WRITE_BITS);
    }
  }
  const { mode } = await lstat(folder);
  await chmod(folder, mode & ~WRITE_BITS);
  return bytes;
}
