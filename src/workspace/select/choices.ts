import { isAbsolute, join, resolve } from 'node:path';
import { AppError } from '../../core/errors.ts';
import { pathInside } from '../../core/files/pathInside.ts';
import { entryExists, listFolder } from '../files/folderEntries.ts';
import { RuleSet } from '../git/ignoreRules.ts';
import { Yielder } from '../../core/processes/yielder.ts';
import { judgeFileName, judgeFolderName } from './exclusion.ts';

/** A file or folder by its path, or those that a pattern matches. */
export type Choice =
  | { readonly type: 'path'; readonly text: string; readonly path: string }
  | { readonly type: 'pattern'; readonly text: string; readonly base: string; readonly rules: RuleSet };

const GLOB = /[*?[]/;

/**
 * What the user chose to send or to leave out: a path in the folder, or a pattern in the syntax of `.gitignore`, without `!`. What exists
 * at a path is that path, even if its name looks like a pattern.
 *
 * @throws AppError `bad-input` for a path outside of the folder, and a pattern with `!`.
 */
async function readChoice(root: string, text: string): Promise<Choice> {
  const path = pathInside(root, resolve(root, text));
  const isThere = await entryExists(resolve(root, text));
  if (path === '' || (path === undefined && (isThere || !isAbsolute(text)))) {
    throw new AppError(
      'bad-input',
      `${text} is not in ${root}, so it cannot be included or excluded. Enter a path inside the folder.`,
    );
  }
  if (path !== undefined && (isThere || !GLOB.test(text))) return { type: 'path', text, path };
  if (text.startsWith('!')) {
    throw new AppError('bad-input', `${text} starts with !, which only ignore files can use. Use --exclude instead.`);
  }
  const pattern = path !== undefined && isAbsolute(text) ? `/${path}` : text.replace(/^(?:\.\/)+/, '/');
  return {
    type: 'pattern',
    text,
    base: baseOf(pattern),
    rules: new RuleSet([{ pattern: pattern.replace(/^#/, String.raw`\#`), mark: text }]),
  };
}

/** All of them, without repetitions. Throws as `readChoice` does. */
export function readChoices(folder: string, texts: readonly string[] = []): Promise<readonly Choice[]> {
  return Promise.all([...new Set(texts)].map((text) => readChoice(folder, text)));
}

/** The folder below which everything is that a pattern matches, `''` for the root. */
function baseOf(pattern: string): string {
  const parts = pattern.replace(/\/$/, '').split('/');
  // Without a slash, a pattern matches at any depth.
  if (parts.length === 1) return '';
  const folders = parts.slice(0, -1);
  const glob = folders.findIndex((part) => GLOB.test(part));
  return folders
    .slice(0, glob === -1 ? undefined : glob)
    .filter((part) => part !== '')
    .join('/');
}

/** Whether a choice takes a path, or a folder above it. Folders end with `/`. */
export function takes(choice: Choice, path: string): boolean {
  if (choice.type === 'pattern') return choice.rules.test(path).isIgnored;
  return path === choice.path || path.startsWith(`${choice.path}/`);
}

/** What a pattern matches on the disk. */
export interface Matches {
  /** Files, links and folders. What is in a folder that matches is not listed. */
  readonly paths: readonly string[];
  /** Those that built-in rules leave out: secrets, caches and virtual environments, which only their own paths include. */
  readonly builtIn: readonly { readonly path: string; readonly rule: string }[];
}

/**
 * Finds what a pattern matches, whatever ignore files say. Git's own data, caches and virtual environments are not entered, and neither
 * are other repositories, unless the pattern names them.
 */
export async function findMatches(
  root: string,
  { base, rules }: Extract<Choice, { type: 'pattern' }>,
  signal: AbortSignal | undefined,
): Promise<Matches> {
  const paths: string[] = [];
  const builtIn: { path: string; rule: string }[] = [];
  const yielder = new Yielder(signal);
  const folders = [base];
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    const entries = await listFolder(join(root, folder), yielder).catch(() => []);
    signal?.throwIfAborted();
    if (folder !== base && entries.some(({ name }) => name === '.git')) continue;
    for (const { name, isFolder } of entries) {
      if (name === '.git') continue;
      const path = folder === '' ? name : `${folder}/${name}`;
      const verdict = isFolder ? judgeFolderName(name) : judgeFileName(path);
      if (rules.test(isFolder ? `${path}/` : path).isIgnored) {
        if (verdict === undefined) paths.push(path);
        else builtIn.push({ path, rule: verdict.rule });
      } else if (isFolder && verdict === undefined) folders.push(path);
    }
  }
  return { paths, builtIn };
}
