import { delimiter, join } from 'node:path';
import { assertNever } from '../../../core/errors.ts';
import type { PackageTool } from '../../../workspace/environments/packageList.ts';

/** The installed packages of a job. */
export interface JobPackages {
  readonly tool: PackageTool;
  /** The folder of the environment. */
  readonly path: string;
  /** Packages that other jobs use too are read-only. */
  readonly access: 'writable' | 'read-only';
}

/** Variables that put packages first, like the `activate` script of an environment. */
export function activation(packages: JobPackages, searchPath: string): Record<string, string> {
  return { PATH: `${programsOf(packages)}${delimiter}${searchPath}`, ...locationVariables(packages) };
}

/** Variables that say where packages are. */
export function locationVariables({ tool, path }: Pick<JobPackages, 'tool' | 'path'>): Record<string, string> {
  switch (tool) {
    case 'pip':
    case 'uv':
      return { VIRTUAL_ENV: path };
    case 'conda':
      return { CONDA_PREFIX: condaPrefix(path) };
    case 'npm':
      return {};
    default:
      return assertNever(tool);
  }
}

/** The folder with the programs of the packages. */
export function programsOf({ tool, path }: Pick<JobPackages, 'tool' | 'path'>): string {
  if (tool === 'npm') return join(path, 'node_modules', '.bin');
  return join(tool === 'conda' ? condaPrefix(path) : path, process.platform === 'win32' ? 'Scripts' : 'bin');
}

/** The interpreter of an environment of Python; undefined for packages of Node.js. */
export function pythonOf(packages: Pick<JobPackages, 'tool' | 'path'>): string | undefined {
  if (packages.tool === 'npm') return undefined;
  return join(programsOf(packages), process.platform === 'win32' ? 'python.exe' : 'python');
}

/** Conda creates only folders that do not exist. */
export function condaPrefix(path: string): string {
  return join(path, 'conda');
}
