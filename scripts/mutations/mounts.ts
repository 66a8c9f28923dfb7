import { spawnSync } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { sep } from 'node:path';

/** Unmounts the file systems below a folder, such as the small disks of tests that were killed. Only Linux is known to have some. */
export async function unmountBelow(folder: string): Promise<void> {
  const mounts = await readFile('/proc/self/mounts', 'utf8').catch(() => '');
  const points = mounts.split('\n').map((line) => line.split(' ')[1] ?? '');
  for (const point of points) if (point.startsWith(folder + sep)) spawnSync('umount', ['-l', point]);
}
