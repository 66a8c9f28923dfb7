import { createHash } from 'node:crypto';
import { basename } from 'node:path/posix';
import { AppError } from '../../core/errors.ts';
import { isInstallerVariable } from './installerVariables.ts';
import { readPackageFile, type PackageFile } from './packageFile.ts';
import { localCondaPackage, localNpmPackage, localUvPackage } from './localPackages.ts';
import { readPipFiles, localPipPackage } from './pipPackages.ts';

/** What installs the packages of a list. `pip` stands for uv too, where that is installed. */
export type PackageTool = 'pip' | 'uv' | 'conda' | 'npm';

/** The part of a job's `venv` that decides what is installed. */
export interface EnvironmentDescription {
  readonly python?: string | undefined;
  /** Lines for pip, or a file of the folder. */
  readonly requirements?: string | readonly string[] | undefined;
  readonly env?: Readonly<Record<string, string>> | undefined;
}

/** What an environment is built from. */
export interface PackageList {
  readonly tool: PackageTool;
  /** What people call it: the file's path, or how many lines there are. */
  readonly name: string;
  /** Everything that decides what is installed; empty for lines. */
  readonly files: readonly PackageFile[];
  /** SHA-256, in hexadecimal, of all that decides what is installed, except the machine. */
  readonly contents: string;
  /** A package that comes from the folder itself, so that the environment is of no use to other submissions; undefined without one. */
  readonly localPackage: string | undefined;
}

/** The lists of packages that are offered, if a folder has them on top. */
export const PACKAGE_LISTS: readonly string[] = [
  'requirements.txt',
  'uv.lock',
  'environment.yml',
  'environment.yaml',
  'env.yml',
  'env.yaml',
  'package-lock.json',
];

const SNIFFED_CHARACTERS = 1_000;

const UNSUPPORTED: Readonly<Record<string, string>> = {
  'pyproject.toml': 'Name its lock file, uv.lock, which uv lock writes.',
  'poetry.lock': 'Write the packages to a requirements file with poetry export, and name that.',
  'pdm.lock': 'Write the packages to a requirements file with pdm export, and name that.',
  Pipfile: 'Write the packages to a requirements file with pipenv requirements, and name that.',
  'Pipfile.lock': 'Write the packages to a requirements file with pipenv requirements, and name that.',
  'renv.lock': 'List R and its packages in an environment.yml, or call renv::restore() in the script.',
  'package.json': 'Name its lock file, package-lock.json, which npm install writes.',
  'pnpm-lock.yaml': 'Name a package-lock.json, or install the packages in the script.',
  'yarn.lock': 'Name a package-lock.json, or install the packages in the script.',
};

/** What installs the packages of a file, by its name. @throws AppError `bad-input` for a file that no supported tool reads. */
export function toolFor(file: string): PackageTool {
  const name = basename(file);
  const remedy = Object.hasOwn(UNSUPPORTED, name) ? UNSUPPORTED[name] : undefined;
  if (remedy !== undefined) throw new AppError('bad-input', `Packages cannot be installed from ${name}. ${remedy}`);
  if (name === 'uv.lock') return 'uv';
  if (name === 'package-lock.json') return 'npm';
  // No list of pip is YAML, whatever its name.
  return /\.ya?ml$/i.test(name) ? 'conda' : 'pip';
}

/**
 * Reads what an environment is built from. Of each file, only what is inside the folder is read.
 *
 * @param root the folder.
 * @returns undefined if nothing is installed.
 * @throws AppError `missing` for a file that the folder does not have, `bad-input` for one that cannot be used.
 */
export async function readPackageList(
  root: string,
  { python, requirements, env = {} }: EnvironmentDescription,
): Promise<PackageList | undefined> {
  if (requirements === undefined) {
    if (python === undefined) return undefined;
    return { tool: 'pip', name: python, files: [], contents: digest('pip', [], python, env), localPackage: undefined };
  }
  if (typeof requirements !== 'string') {
    const text = requirements.join('\n');
    const count = requirements.length;
    const name = count === 1 ? '1 requirement' : `${count} requirements`;
    return {
      tool: 'pip',
      name,
      files: [],
      contents: digest('pip', [text], python, env),
      localPackage: localPipPackage(text),
    };
  }
  const tool = toolFor(requirements);
  const files = await READERS[tool].read(root, requirements);
  if (tool === 'pip' || tool === 'conda') checkFormat(tool, files[0]);
  const texts = files.flatMap(({ path, text }) => [path, text]);
  const listed = tool === 'pip' ? files : files.slice(0, 1);
  const localPackage = listed.map(({ text }) => READERS[tool].localPackage(text)).find((each) => each !== undefined);
  return { tool, name: requirements, files, contents: digest(tool, texts, python, env), localPackage };
}

/** @throws AppError `bad-input` for a file that the tool would misread, because it belongs to another one. */
function checkFormat(tool: 'pip' | 'conda', file: PackageFile | undefined): void {
  if (file === undefined) return;
  const { path, text } = file;
  if (tool === 'pip' && /^\s*(?:#.*\s+)*[[{]/.test(text.slice(0, SNIFFED_CHARACTERS))) {
    const message = `${path} is not a requirements file, one package a line. Write the packages to one, and name that.`;
    throw new AppError('bad-input', message);
  }
  if (tool === 'conda' && !/^["']?dependencies["']?\s*:/m.test(text)) {
    const message = `${path} is not an environment of conda: it has no "dependencies:". Name a file that has them.`;
    throw new AppError('bad-input', message);
  }
}

interface Reader {
  readonly read: (root: string, file: string) => Promise<readonly PackageFile[]>;
  readonly localPackage: (text: string) => string | undefined;
}

const READERS: Readonly<Record<PackageTool, Reader>> = {
  pip: { read: readPipFiles, localPackage: localPipPackage },
  uv: { read: withSiblings('pyproject.toml'), localPackage: localUvPackage },
  conda: { read: withSiblings(), localPackage: localCondaPackage },
  npm: { read: withSiblings('package.json'), localPackage: localNpmPackage },
};

/** Reads a file and files beside it that its tool reads too. */
function withSiblings(...names: readonly string[]): Reader['read'] {
  return (root, file) => {
    const folder = file.slice(0, -basename(file).length);
    return Promise.all([file, ...names.map((name) => `${folder}${name}`)].map((path) => readPackageFile(root, path)));
  };
}

function digest(
  tool: PackageTool,
  texts: readonly string[],
  python: string | undefined,
  env: Readonly<Record<string, string>>,
): string {
  const variables = Object.entries(env)
    .filter(([name]) => isInstallerVariable(name))
    .toSorted(([a], [b]) => (a < b ? -1 : 1));
  return createHash('sha256')
    .update(JSON.stringify([tool, texts, python ?? null, variables]))
    .digest('hex');
}
