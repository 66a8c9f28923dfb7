import { basename } from 'node:path/posix';
import { AppError } from '../core/errors.ts';
import { plainText } from '../core/terminalText.ts';
import type { Exclusion, ExclusionReason, Selection } from '../workspace/selection.ts';

const MAX_SUGGESTIONS = 3;
const MAX_DISTANCE = 3;

const REASONS: Readonly<Record<ExclusionReason, string>> = {
  gitignore: 'git ignores it',
  farwharfignore: '.farwharfignore leaves it out',
  git: 'it belongs to git, or to another repository inside this one',
  secret: 'it looks like a secret',
  venv: 'it lies in a virtual environment',
  cache: 'it lies in a cache',
  link: 'it is a link',
  special: 'it is no ordinary file',
  unreadable: 'it cannot be read',
  limit: 'it is over a size or count limit',
};

const FIRST_WORD = /^\s*(?:"([^"]*)"|'([^']*)'|(\S+))/;

/** The file that a script line names: `train.py` of `train.py --epochs 3`; quotes are understood. */
export function scriptPath(script: string): string {
  const word = FIRST_WORD.exec(script);
  return (word?.[1] ?? word?.[2] ?? word?.[3] ?? '').replace(/^(?:\.\/)+/, '');
}

/** What follows the file in a script line, as it was written: `--epochs 3`. */
export function scriptArguments(script: string): string {
  return script.replace(FIRST_WORD, '').trim();
}

/**
 * Makes sure that the script will be there, before any byte leaves.
 *
 * @throws AppError `missing` with close matches, or with the rule that left the file out; `bad-input` for no script at all.
 */
export function checkScript(selection: Selection, script: string): void {
  const path = scriptPath(script);
  if (path === '') throw new AppError('bad-input', 'No script is given. Name the file to run, like train.py.');
  if (selection.files.length === 0) {
    throw new AppError('missing', `There is nothing to send: no file of ${plainText(selection.root)} is chosen.`);
  }
  if (selection.files.some((file) => file.path === path)) return;
  const name = plainText(path);
  const exclusion = selection.excluded.find(
    (entry) =>
      entry.path === path || (entry.type === 'directory' && path.startsWith(`${entry.path.replace(/\/$/, '')}/`)),
  );
  if (exclusion !== undefined) {
    throw new AppError('missing', `${name} would not be sent: ${describeExclusion(exclusion)}. Nothing was sent.`);
  }
  const close = closeMatches(path, selection);
  const hint =
    close.length === 0 ? 'Paths are relative to the folder.' : `Did you mean ${plainText(close.join(' or '))}?`;
  throw new AppError('missing', `There is no file ${name} in the folder, so nothing was sent. ${hint}`);
}

function describeExclusion({ path, reason, rule, at }: Exclusion): string {
  const place = at === undefined ? '' : ` at ${at}`;
  const pattern = rule === undefined ? '' : ` "${rule}"`;
  const detail = pattern === '' && place === '' ? '' : ` (rule${pattern}${place}, for ${path})`;
  return plainText(`${REASONS[reason]}${detail}`);
}

function closeMatches(path: string, selection: Selection): string[] {
  const wanted = path.replaceAll('\\', '/').toLowerCase();
  return selection.files
    .map((file) => {
      const candidate = file.path.toLowerCase();
      if (candidate === wanted) return { path: file.path, score: 0 };
      const isSameName = basename(candidate) === basename(wanted) || wanted.endsWith(`/${candidate}`);
      return { path: file.path, score: isSameName ? 1 : 1 + editDistance(candidate, wanted) };
    })
    .filter(({ score }) => score <= 1 + Math.min(MAX_DISTANCE, Math.floor(wanted.length / 3)))
    .sort((a, b) => a.score - b.score)
    .slice(0, MAX_SUGGESTIONS)
    .map((match) => match.path);
}

/** Levenshtein's distance (1966), given up as soon as it must be over the limit. */
function editDistance(a: string, b: string): number {
  if (Math.abs(a.length - b.length) > MAX_DISTANCE) return MAX_DISTANCE + 1;
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const change = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(change, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    if (Math.min(...next) > MAX_DISTANCE) return MAX_DISTANCE + 1;
    row = next;
  }
  return row[b.length] ?? 0;
}
