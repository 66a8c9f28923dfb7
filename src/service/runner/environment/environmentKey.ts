import { createHash } from 'node:crypto';
import { readFileSync, realpathSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { isInstallerVariable } from '../../../workspace/environments/installerVariables.ts';
import type { PackageList } from '../../../workspace/environments/packageList.ts';

const RELEASE_FILE = '/etc/os-release';
// How environments are built. A change of what a build can depend on is another number, so that older environments are not used.
const RECIPE = 2;
// What installers read besides their variables. Of a home, what is below it.
const SYSTEM_CONFIGURATION = [
  '/etc/pip.conf',
  '/etc/xdg/pip/pip.conf',
  '/etc/uv/uv.toml',
  '/etc/npmrc',
  '/etc/conda/.condarc',
];
const HOME_CONFIGURATION = [
  '.config/pip/pip.conf',
  '.pip/pip.conf',
  '.config/uv/uv.toml',
  '.npmrc',
  '.condarc',
  '.conda/.condarc',
  '.mambarc',
];

/**
 * Identifies an environment by all that decides what is in it: what is installed, the system, the programs that install it, and how the
 * machine configures them, so that a node of a cluster with another system, or an upgraded Python, gets its own.
 *
 * @param tools the paths of the programs.
 * @param variables those of the machine.
 * @returns 64 hexadecimal digits.
 */
export function packagesKey(
  { contents }: Pick<PackageList, 'contents'>,
  tools: readonly string[],
  variables: Readonly<Record<string, string>>,
): string {
  const programs = tools.map((path) => {
    const real = realpathSync(path);
    const { size, mtimeMs } = statSync(real);
    return [path, real, size, mtimeMs];
  });
  // What a cluster's environment modules provide, such as CUDA, can become part of a package.
  const modules = process.env['LOADEDMODULES'] ?? '';
  const system = [process.platform, process.arch, textOf(RELEASE_FILE), modules];
  const facts = [RECIPE, contents, system, programs, configuration(variables)];
  return createHash('sha256').update(JSON.stringify(facts)).digest('hex');
}

/** How the machine configures installers. */
function configuration(variables: Readonly<Record<string, string>>): readonly unknown[] {
  const chosen = Object.entries(variables)
    .filter(([name]) => isInstallerVariable(name))
    .toSorted(([a], [b]) => (a < b ? -1 : 1));
  const home = variables['HOME'] ?? '';
  const files = [...SYSTEM_CONFIGURATION, ...HOME_CONFIGURATION.map((name) => join(home, name))];
  return [chosen, files.map(textOf)];
}

/** Empty without the file. */
function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
