import { lstatSync, readlinkSync, rmSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { PackageList } from '../../../workspace/environments/packageList.ts';

const MODULES = 'node_modules';

/**
 * Links the packages that npm installed beside their lock file in the workspace, where Node.js looks for them, because it finds modules by
 * no variable.
 *
 * @param target the environment.
 * @returns what removes the link, so that it is no result of the job; undefined if the folder has its own `node_modules`.
 */
export function linkNodeModules(
  workspace: string,
  { name }: Pick<PackageList, 'name'>,
  target: string,
): (() => void) | undefined {
  const link = join(workspace, dirname(name), MODULES);
  const modules = join(target, MODULES);
  if (lstatSync(link, { throwIfNoEntry: false }) !== undefined) return undefined;
  symlinkSync(modules, link, 'junction');
  return () => {
    if (isLinkTo(link, modules)) rmSync(link);
  };
}

/** False if the job replaced it. */
function isLinkTo(path: string, target: string): boolean {
  const isLink = lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true;
  return isLink && readlinkSync(path).replace(/[/\\]$/, '') === target;
}
