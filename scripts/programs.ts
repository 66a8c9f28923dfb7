import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { userInfo } from 'node:os';
import { delimiter, resolve } from 'node:path';
import { promisify } from 'node:util';
import { cacheFolder, withLock } from './vscode/cache.ts';

const run = promisify(execFile);

/** Path of the first of `names` that exists, on PATH or as an absolute path. */
export function findProgram(names: readonly string[]): string | undefined {
  const folders = (process.env['PATH'] ?? '').split(delimiter);
  return names.flatMap((name) => folders.map((folder) => resolve(folder, name))).find((path) => existsSync(path));
}

interface Needed {
  readonly programs: readonly string[];
  readonly packages: readonly string[];
  /** Called before an installation, which takes a while. */
  readonly onInstall?: () => void;
}

/**
 * Makes sure that programs, on PATH or with absolute paths, are there. Where one is missing, root on Debian installs the packages; other processes that install
 * something meanwhile wait, since apt-get fails instead.
 *
 * @param name of the programs in the sentence that is returned.
 * @returns why a program is missing; undefined when all are there.
 */
export async function programsAreMissing(
  name: string,
  { programs, packages, onInstall }: Needed,
): Promise<string | undefined> {
  const areAllThere = (): boolean => programs.every((program) => findProgram([program]) !== undefined);
  if (areAllThere()) return undefined;
  const aptGet = findProgram(['apt-get']);
  if (aptGet === undefined || userInfo().uid !== 0)
    return `${name} is not installed, and only root on Debian can install it`;
  return withLock(
    resolve(cacheFolder(), 'apt-get.lock'),
    () => {},
    async () => {
      if (areAllThere()) return undefined;
      onInstall?.();
      const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
      try {
        await run(aptGet, ['update', '-qq'], { env, timeout: 120_000 });
        await run(aptGet, ['install', '-y', '-qq', '--no-install-recommends', ...packages], { env, timeout: 600_000 });
      } catch (error) {
        return `${name} could not be installed: ${String(error).split('\n')[0]}`;
      }
      return areAllThere() ? undefined : `${name} was installed, but its programs are not there`;
    },
  );
}
