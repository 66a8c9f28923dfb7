import { readdir } from 'node:fs/promises';
import { basename, dirname, join, posix } from 'node:path';
import { AppError } from '../../core/errors.ts';
import { nearest } from '../../core/text/similar.ts';
import { entryExists } from '../files/folderEntries.ts';
import { type Choice, findMatches, takes } from './choices.ts';
import type { ChosenFiles } from './chosenFiles.ts';
import type { Exclusion } from './exclusion.ts';
import type { Inspected } from './fileInspection.ts';

/** What one choice of the user includes. */
export interface Included {
  readonly text: string;
  /** The files and folders that it names or matches. */
  readonly paths: readonly string[];
  /** The files among and in them. */
  readonly files: readonly string[];
}

/** @throws AppError `missing` if nothing is there, `refused` if all of it needs its own path, and as `ChosenFiles.add` does. */
export async function addChoice(
  chosen: ChosenFiles,
  folder: string,
  {
    choice,
    exclude,
    signal,
  }: { readonly choice: Choice; readonly exclude: readonly Choice[]; readonly signal: AbortSignal | undefined },
): Promise<Included> {
  const { text } = choice;
  if (choice.type === 'path') {
    if (!(await entryExists(join(folder, choice.path)))) throw await nothingThere(folder, choice, 'included');
    return { text, paths: [choice.path], files: await chosen.add(choice.path, true) };
  }
  const { paths, builtIn } = await findMatches(folder, choice, signal);
  const [first] = builtIn;
  if (paths.length === 0 && first === undefined) throw await nothingThere(folder, choice, 'included');
  if (paths.length === 0 && first !== undefined) {
    throw new AppError(
      'refused',
      `${text} matches ${first.path}, which a pattern does not include (${first.rule}), so nothing was sent. Include it by its path.`,
    );
  }
  const files: string[] = [];
  // A match that cannot be sent is no error if the user leaves it out.
  for (const path of paths.filter((path) => !exclude.some((one) => takes(one, path)))) {
    for (const file of await chosen.add(path, false)) files.push(file);
  }
  return { text, paths, files };
}

/** @throws AppError `refused` for a choice of which nothing is sent, unless the user excluded it. */
export function assertIncluded(
  included: readonly Included[],
  { files, excluded }: Pick<Inspected, 'files' | 'excluded'>,
  isTaken: (path: string) => boolean,
): void {
  if (included.length === 0) return;
  const sentPaths = new Set(files.map(({ path }) => path));
  const reasons = new Map(excluded.map((exclusion) => [exclusion.path, exclusion]));
  for (const { text, paths, files: own } of included) {
    if (own.some((path) => sentPaths.has(path) || isTaken(path)) || paths.every(isTaken)) continue;
    const exclusion = own.map((path) => reasons.get(path)).find((one) => one !== undefined);
    const why =
      exclusion === undefined
        ? 'it contains no file. If it is a submodule, check it out with  git submodule update --init'
        : `${exclusion.path === text ? 'reason' : exclusion.path}: ${exclusion.rule ?? exclusion.reason}`;
    throw new AppError('refused', `${text} was included but cannot be sent (${why}), so nothing was sent.`);
  }
}

/** @throws AppError `missing` for a choice that matches nothing in the folder. */
export async function assertExcluded(
  folder: string,
  choice: Choice,
  {
    wanted,
    excluded,
    signal,
  }: {
    readonly wanted: readonly string[];
    readonly excluded: readonly Exclusion[];
    readonly signal: AbortSignal | undefined;
  },
): Promise<void> {
  if (wanted.some((path) => takes(choice, path))) return;
  if (excluded.some(({ path, type }) => takes(choice, type === 'directory' ? `${path}/` : path))) return;
  if (choice.type === 'path' && (await entryExists(join(folder, choice.path)))) return;
  if (choice.type === 'pattern') {
    // In a folder that is left out as a whole.
    const { paths, builtIn } = await findMatches(folder, choice, signal);
    if (paths.length + builtIn.length > 0) return;
  }
  throw await nothingThere(folder, choice, 'excluded');
}

async function nothingThere(folder: string, choice: Choice, what: 'included' | 'excluded'): Promise<AppError> {
  const { text } = choice;
  if (choice.type === 'pattern') {
    return new AppError(
      'missing',
      `The pattern ${text} matches nothing in ${folder}, so nothing can be ${what}. Patterns have the syntax of .gitignore.`,
    );
  }
  const parent = dirname(choice.path);
  // People misspell the last part of a path most often.
  const names = await readdir(join(folder, parent)).catch((): string[] => []);
  const name = nearest(basename(choice.path), names);
  const guess = name === undefined ? '' : ` Did you mean ${posix.join(parent, name)}?`;
  return new AppError(
    'missing',
    `${text} does not exist in ${folder}, so it cannot be ${what}.${guess} Enter a path relative to the folder, or a pattern such as *.csv.`,
  );
}
