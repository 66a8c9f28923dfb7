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

const LANGUAGES = {
  pip: 'python',
  uv: 'python',
  poetry: 'python',
  pdm: 'python',
  conda: 'conda',
  npm: 'node',
  pnpm: 'node',
  yarn: 'node',
  renv: 'r',
} as const satisfies Readonly<Record<PackageTool, string>>;

/** Variables that say where packages are. */
export function locationVariables({ tool, path }: Pick<JobPackages, 'tool' | 'path'>): Record<string, string> {
  const language = LANGUAGES[tool];
  switch (language) {
    case 'python':
      return { VIRTUAL_ENV: path };
    case 'conda':
      return { CONDA_PREFIX: condaPrefix(path) };
    case 'node':
      return {};
    case 'r':
      // Otherwise the .Rprofile of a project hides all libraries but that of its own folder, which is empty.
      return { R_LIBS: rLibrary(path), RENV_CONFIG_AUTOLOADER_ENABLED: 'FALSE' };
    default:
      return assertNever(language);
  }
}

/** The folder with the programs of the packages. */
export function programsOf({ tool, path }: Pick<JobPackages, 'tool' | 'path'>): string {
  const language = LANGUAGES[tool];
  if (language === 'node') return join(path, 'node_modules', '.bin');
  return join(language === 'conda' ? condaPrefix(path) : path, process.platform === 'win32' ? 'Scripts' : 'bin');
}

/** The interpreter of an environment of Python; undefined for packages of other languages. */
export function pythonOf(packages: Pick<JobPackages, 'tool' | 'path'>): string | undefined {
  const language = LANGUAGES[packages.tool];
  if (language === 'node' || language === 'r') return undefined;
  return join(programsOf(packages), process.platform === 'win32' ? 'python.exe' : 'python');
}

/** Whether Node.js looks for the packages in `node_modules`. */
export function isOfNode({ tool }: Pick<JobPackages, 'tool'>): boolean {
  return LANGUAGES[tool] === 'node';
}

/** The library of R with the packages. */
export function rLibrary(path: string): string {
  return join(path, 'library');
}

/** Conda creates only folders that do not exist. */
export function condaPrefix(path: string): string {
  return join(path, 'conda');
}
