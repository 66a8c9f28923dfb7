import { createHash } from 'node:crypto';
import { readFileSync, realpathSync, statSync } from 'node:fs';
import type { PackageList } from '../../../workspace/environments/packageList.ts';

const RELEASE_FILE = '/etc/os-release';

/**
 * Identifies an environment by all that decides what is in it: what is installed, the system, and the programs that install it, so that a
 * node of a cluster with another system, or an upgraded Python, gets its own.
 *
 * @param tools the paths of the programs.
 * @returns 64 hexadecimal digits.
 */
export function environmentKey({ contents }: Pick<PackageList, 'contents'>, tools: readonly string[]): string {
  const programs = tools.map((path) => {
    const real = realpathSync(path);
    const { size, mtimeMs } = statSync(real);
    return [path, real, size, mtimeMs];
  });
  // What a cluster's environment modules provide, such as CUDA, can become part of a package.
  const modules = process.env['LOADEDMODULES'] ?? '';
  const facts = [contents, process.platform, process.arch, systemRelease(), modules, programs];
  return createHash('sha256').update(JSON.stringify(facts)).digest('hex');
}

/** Which distribution this is, with its version; empty on systems without the file. */
function systemRelease(): string {
  try {
    return readFileSync(RELEASE_FILE, 'utf8');
  } catch {
    return '';
  }
}
