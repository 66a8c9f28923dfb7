import { createHash } from 'node:crypto';
import { basename } from 'node:path/posix';
import { AppError } from '../../core/errors.ts';
import { isInstallerVariable } from './installerVariables.ts';
import { readPackageFile, type PackageFile } from './packageFile.ts';
import { checkLockAge } from './lockAge.ts';
import {
  localCondaPackage,
  localNpmPackages,
  type LocalPackage,
  localPackages,
  localRenvPackages,
  refuseOutside,
} from './localPackages.ts';
import { lockedRequirements } from './lockedRequirements.ts';
import { readPipFiles, localPipPackage } from './pipPackages.ts';
import { inlinePackages, type PipRequirements, projectPackages } from './projectPackages.ts';

/** What installs the packages of a list. `pip` stands for uv too, where that is installed. */
export const PACKAGE_TOOLS = ['pip', 'uv', 'poetry', 'pdm', 'conda', 'npm', 'pnpm', 'yarn', 'renv'] as const;
export type PackageTool = (typeof PACKAGE_TOOLS)[number];

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
  readonly format: PackageFormat;
  /** What people call it: the file's path, or how many lines there are. */
  readonly name: string;
  /** Everything that decides what is installed; empty for lines. */
  readonly files: readonly PackageFile[];
  /** SHA-256, in hexadecimal, of all that decides what is installed, except the machine. */
  readonly contents: string;
  /** A package that comes from the folder itself, so that the environment is of no use to other submissions; undefined without one. */
  readonly localPackage: string | undefined;
}

/** A format of a list. */
type PackageFormat = PackageTool | 'pylock' | 'pyproject' | 'inline';

const SNIFFED_CHARACTERS = 1_000;

const UNSUPPORTED: Readonly<Record<string, string>> = {
  Pipfile: 'Write the packages to a requirements file with pipenv requirements, and name that.',
  'Pipfile.lock': 'Write the packages to a requirements file with pipenv requirements, and name that.',
  'package.json': 'Name its lock file, such as package-lock.json, which npm install writes.',
};

// The names of files that tools look for.
const FORMATS: Readonly<Record<string, PackageFormat>> = {
  'uv.lock': 'uv',
  'poetry.lock': 'poetry',
  'pdm.lock': 'pdm',
  'pylock.toml': 'pylock',
  'pyproject.toml': 'pyproject',
  'package-lock.json': 'npm',
  'pnpm-lock.yaml': 'pnpm',
  'yarn.lock': 'yarn',
  'renv.lock': 'renv',
};

/** The format of a file, by its name. @throws AppError `bad-input` for a file that no supported tool reads. */
export function formatOf(file: string): PackageFormat {
  const name = basename(file);
  const remedy = Object.hasOwn(UNSUPPORTED, name) ? UNSUPPORTED[name] : undefined;
  if (remedy !== undefined) throw new AppError('bad-input', `Packages cannot be installed from ${name}. ${remedy}`);
  if (Object.hasOwn(FORMATS, name)) return FORMATS[name] ?? 'pip';
  // PEP 751, "File Name".
  if (/^pylock\.[^.]+\.toml$/.test(name)) return 'pylock';
  if (/\.py$/i.test(name)) return 'inline';
  // No list of pip is YAML, whatever its name.
  return /\.ya?ml$/i.test(name) ? 'conda' : 'pip';
}

/** What installs the packages of a file, by its name. @throws as `formatOf`. */
export function toolFor(file: string): PackageTool {
  const format = formatOf(file);
  return format === 'pylock' || format === 'pyproject' || format === 'inline' ? 'pip' : format;
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
    return {
      tool: 'pip',
      format: 'pip',
      name: python,
      files: [],
      contents: digest('pip', [], python, env),
      localPackage: undefined,
    };
  }
  if (typeof requirements !== 'string') {
    const text = requirements.join('\n');
    const count = requirements.length;
    const name = count === 1 ? '1 requirement' : `${count} requirements`;
    return {
      tool: 'pip',
      format: 'pip',
      name,
      files: [],
      contents: digest('pip', [text], python, env),
      localPackage: localPipPackage(text),
    };
  }
  const [format, tool] = [formatOf(requirements), toolFor(requirements)];
  const { read, local } = READERS[format];
  const files = await read(root, requirements);
  if (format === 'pip' || format === 'conda') checkFormat(format, files[0]);
  const list = { tool, format, name: requirements, files };
  if (format === 'pyproject' || format === 'inline') {
    // The rest of the file has no part in what is installed.
    const { lines, python: range } = pipRequirements(list) ?? NO_LINES;
    const contents = digest(tool, [lines.join('\n'), range ?? ''], python, env);
    return { ...list, contents, localPackage: localPipPackage(lines.join('\n')) };
  }
  const texts = files.flatMap(({ path, text }) => [path, text]);
  const listed = format === 'pip' ? files : files.slice(0, 1);
  const [localPackage] = listed.flatMap(({ text }) => local(text));
  return { ...list, contents: digest(tool, texts, python, env), localPackage: localPackage?.name };
}

const NO_LINES: PipRequirements = { lines: [], isLocked: false, python: undefined };

/**
 * What pip or uv install for a list that is not a requirements file; undefined if it is one, or of another tool than Python's.
 *
 * @throws AppError `bad-input` if only the tool that wrote the list can install it.
 */
export function pipRequirements({ format, files }: Pick<PackageList, 'format' | 'files'>): PipRequirements | undefined {
  const [file, project] = files;
  if (file === undefined) return undefined;
  if (format === 'inline') return inlinePackages(file);
  if (format === 'pyproject') return projectPackages(file);
  const isLock = format === 'uv' || format === 'poetry' || format === 'pdm' || format === 'pylock';
  return isLock ? lockedRequirements(format, [file, project]) : undefined;
}

/**
 * Checks what takes longer than reading a list: that a lock file fits its project, and that all it names is in the folder.
 *
 * @throws AppError `bad-input` if one is not so.
 */
export function checkPackageList({ format, files }: PackageList): void {
  const [file, project] = files;
  if (file === undefined) return;
  if (format !== 'pip' && format !== 'conda') refuseOutside(file.path, READERS[format].local(file.text));
  if (project === undefined || format === 'pip' || format === 'conda' || format === 'renv') return;
  if (format !== 'pylock' && format !== 'pyproject' && format !== 'inline') checkLockAge(format, file, project);
}

/** @throws AppError `bad-input` for a file that the tool would misread, because it belongs to another one. */
function checkFormat(tool: 'pip' | 'conda', file: PackageFile | undefined): void {
  if (file === undefined) return;
  const { path, text } = file;
  if (tool === 'pip' && /^[ \t]*[[{]/.test(firstLine(text.slice(0, SNIFFED_CHARACTERS)))) {
    const message = `${path} is not a requirements file, one package a line. Write the packages to one, and name that.`;
    throw new AppError('bad-input', message);
  }
  if (tool === 'conda' && !/^["']?dependencies["']?\s*:/m.test(text)) {
    const message = `${path} is not an environment of conda: it has no "dependencies:". Name a file that has them.`;
    throw new AppError('bad-input', message);
  }
}

/** The first line that is neither empty nor a comment. */
function firstLine(text: string): string {
  return text.split(/\r?\n/).find((line) => !/^\s*(?:#|$)/.test(line)) ?? '';
}

interface Reader {
  /** Reads the list, and then what else its tool reads. */
  readonly read: (root: string, file: string) => Promise<readonly PackageFile[]>;
  readonly local: (text: string) => readonly LocalPackage[];
}

const READERS: Readonly<Record<PackageFormat, Reader>> = {
  pip: { read: readPipFiles, local: (text) => named(localPipPackage(text)) },
  inline: { read: withSiblings(), local: () => [] },
  pyproject: { read: withSiblings(), local: () => [] },
  pylock: { read: withSiblings(), local: (text) => localPackages('pylock', text) },
  uv: { read: withSiblings(['pyproject.toml']), local: (text) => localPackages('uv', text) },
  poetry: { read: withSiblings(['pyproject.toml']), local: (text) => localPackages('poetry', text) },
  pdm: { read: withSiblings(['pyproject.toml']), local: (text) => localPackages('pdm', text) },
  conda: { read: withSiblings(), local: (text) => named(localCondaPackage(text)) },
  npm: { read: withSiblings(['package.json']), local: localNpmPackages },
  pnpm: { read: withSiblings(['package.json'], ['pnpm-workspace.yaml']), local: (text) => localPackages('pnpm', text) },
  yarn: { read: withSiblings(['package.json'], ['.yarnrc.yml']), local: (text) => localPackages('yarn', text) },
  renv: { read: withSiblings(), local: localRenvPackages },
};

function named(name: string | undefined): readonly LocalPackage[] {
  return name === undefined ? [] : [{ name, path: name }];
}

/** Reads a file, files beside it that its tool needs, and those that it reads where they exist. */
function withSiblings(needed: readonly string[] = [], others: readonly string[] = []): Reader['read'] {
  return async (root, file) => {
    const folder = file.slice(0, -basename(file).length);
    const read = (name: string): Promise<PackageFile> => readPackageFile(root, `${folder}${name}`);
    const readOther = async (name: string): Promise<readonly PackageFile[]> =>
      read(name).then((found) => [{ ...found, isOptional: true }], noneIfMissing);
    const files = await Promise.all([basename(file), ...needed].map(read));
    return [...files, ...(await Promise.all(others.map(readOther))).flat()];
  };
}

function noneIfMissing(error: unknown): readonly PackageFile[] {
  if (error instanceof AppError && error.code === 'missing') return [];
  throw error;
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
