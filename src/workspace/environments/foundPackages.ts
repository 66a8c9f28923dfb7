import { basename, dirname, join } from 'node:path/posix';
import { readStart } from '../files/boundedRead.ts';
import type { SelectedFile } from '../files/selectedFile.ts';
import { hasInlinePackages } from './projectPackages.ts';

// Where what decides the format of a file stands.
const MAX_READ_BYTES = 256 * 1024;
const MAX_READ_FILES = 50;

// In the order in which they are offered: what names exact versions comes first.
const NAMES = [
  /^uv\.lock$/,
  /^poetry\.lock$/,
  /^pdm\.lock$/,
  /^pylock(?:\.[^.]+)?\.toml$/,
  /^requirements\.txt$/,
  /^package-lock\.json$/,
  /^pnpm-lock\.yaml$/,
  /^yarn\.lock$/,
  /^renv\.lock$/,
];
const LISTS_PYTHON = /(?:^|\/)(?:(?:uv|poetry|pdm)\.lock|pylock(?:\.[^.]+)?\.toml|requirements\.txt)$/;

/**
 * The files that list packages, on top of a folder and beside the script of a job: those that tools write by their names, a script that
 * names its own (PEP 723), environments of conda by what is in them, and a pyproject.toml with dependencies if nothing else lists those
 * of Python.
 *
 * @param script its path in the folder; empty without one.
 * @returns paths, the ones to offer first at the start.
 */
export async function findPackageLists(
  { root, files }: { readonly root: string; readonly files: readonly SelectedFile[] },
  script: string,
): Promise<readonly string[]> {
  const folders = new Set([dirname(script), '.']);
  const near = files.filter(({ path }) => folders.has(dirname(path)));
  const matches = async (file: SelectedFile, test: (text: string) => boolean): Promise<boolean> => {
    const start = await readStart(file.source ?? join(root, file.path), MAX_READ_BYTES);
    return start !== undefined && test(start.toString('utf8'));
  };
  const matching = async (pattern: RegExp, test: (text: string) => boolean): Promise<readonly string[]> => {
    const candidates = near.filter(({ path }) => pattern.test(path)).slice(0, MAX_READ_FILES);
    const found = await Promise.all(candidates.map((file) => matches(file, test)));
    return candidates.filter((_, index) => found[index]).map(({ path }) => path);
  };
  const named = NAMES.flatMap((name) => near.map(({ path }) => path).filter((path) => name.test(basename(path))));
  const [inline, conda, projects] = await Promise.all([
    matching(/\.py$/i, hasInlinePackages).then((paths) => paths.filter((path) => path === script)),
    matching(/(?:^|\/)(?!pnpm-)[^/]*\.ya?ml$/i, isCondaEnvironment),
    matching(/(?:^|\/)pyproject\.toml$/, isProject),
  ]);
  const python = named.filter((path) => LISTS_PYTHON.test(path));
  const alone = projects.filter((path) => !python.some((list) => dirname(list) === dirname(path)));
  return [...new Set([...inline, ...named, ...conda, ...alone])];
}

/** Whether a YAML file lists packages of conda, rather than for example charts of Helm, each of which is a mapping. */
function isCondaEnvironment(text: string): boolean {
  if (/^["']?dependencies["']?[ \t]*:[ \t]*\[[ \t]*["']?\w/m.test(text)) return true;
  const first = lineAfter(text, /^["']?dependencies["']?[ \t]*:[ \t]*(?:#.*)?$/);
  if (first === undefined) return false;
  return /^["']?channels["']?[ \t]*:/m.test(text) || /^[ \t]*-[ \t]+["']?[\w.-]+(?![\w.-])(?![ \t]*:)/.test(first);
}

/** Whether a pyproject.toml lists packages in the standard way. */
function isProject(text: string): boolean {
  if (!/^\[project\]/m.test(text)) return false;
  return (
    /^dependencies[ \t]*=[ \t]*\[[ \t]*["']/m.test(text) ||
    /^[ \t]*["']/.test(lineAfter(text, /^dependencies[ \t]*=[ \t]*\[[ \t]*(?:#.*)?$/) ?? '')
  );
}

/** The first line with content after one that matches; undefined without one. */
function lineAfter(text: string, pattern: RegExp): string | undefined {
  const lines = text.split(/\r?\n/);
  const start = lines.findIndex((line) => pattern.test(line));
  return start < 0 ? undefined : lines.slice(start + 1).find((line) => !/^[ \t]*(?:#|$)/.test(line));
}
