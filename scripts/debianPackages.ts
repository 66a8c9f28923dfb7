import { execFile } from 'node:child_process';
import { userInfo } from 'node:os';
import { promisify } from 'node:util';

const run = promisify(execFile);

/**
 * Sees to it that programs are there, and installs Debian's packages where they are not and that is allowed.
 *
 * @returns why they are not there; undefined where they are.
 */
export async function programsAreMissing(
  name: string,
  { programs, packages }: { programs: readonly string[]; packages: readonly string[] },
): Promise<string | undefined> {
  const isThere = async (program: string): Promise<boolean> =>
    run('which', [program]).then(
      () => true,
      () => false,
    );
  const areAllThere = async (): Promise<boolean> => (await Promise.all(programs.map(isThere))).every(Boolean);
  if (await areAllThere()) return undefined;
  if (userInfo().uid !== 0) return `${name} is not installed, and only root can install it`;
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  try {
    await run('apt-get', ['update', '-qq'], { env, timeout: 120_000 });
    await run('apt-get', ['install', '-y', '-qq', '--no-install-recommends', ...packages], { env, timeout: 300_000 });
  } catch (error) {
    return `${name} could not be installed: ${String(error).split('\n')[0]}`;
  }
  return (await areAllThere()) ? undefined : `${name} was installed and its programs are not there`;
}
