import { readdirSync, readlinkSync, realpathSync } from 'node:fs';

/** Where the system lists what this process has open; pass it as `skip` to a test of `openFilesIn`. */
export const cannotListOpenFiles = process.platform === 'linux' ? false : 'open files are listed on Linux only';

/** The files below `folder` that this process has open. */
export function openFilesIn(folder: string): string[] {
  const root = realpathSync(folder);
  return readdirSync('/proc/self/fd').flatMap((descriptor) => {
    try {
      const path = readlinkSync(`/proc/self/fd/${descriptor}`);
      return path.startsWith(`${root}/`) ? [path] : [];
    } catch {
      return []; // the descriptor of the listing itself
    }
  });
}
