import { basename } from 'node:path/posix';
import { AppError } from '../../core/errors.ts';
import { editDistance } from '../../core/text/similar.ts';
import { printableLine } from '../../core/text/printable.ts';
import type { Exclusion, ExclusionReason, Selection } from '../../workspace/select/selection.ts';

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

// The other reasons hold for a file that a person chose, too.
const OVERRIDABLE: ReadonlySet<ExclusionReason> = new Set(['gitignore', 'farwharfignore', 'secret', 'venv', 'cache']);

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
 * Makes sure that the script is among the files to send, before any byte leaves.
 *
 * @param howToInclude what sends a file that a rule leaves out, in the words of the caller's interface.
 * @throws AppError `missing` with close matches, or with the rule that leaves the file out; `bad-input` for no script at all.
 */
export function checkScript(
  selection: Selection,
  script: string,
  howToInclude: (path: string) => string = () => 'Include it, or change the rule.',
): void {
  const path = scriptPath(script);
  if (path === '') throw new AppError('bad-input', 'No script is given. Name the file to run, like train.py.');
  if (selection.files.length === 0) {
    throw new AppError('missing', `There is nothing to send: no file of ${printableLine(selection.root)} is chosen.`);
  }
  if (selection.files.some((file) => file.path === path)) return;
  const name = printableLine(path);
  const exclusion = selection.excluded.find(
    (entry) =>
      entry.path === path || (entry.type === 'directory' && path.startsWith(`${entry.path.replace(/\/$/, '')}/`)),
  );
  if (exclusion !== undefined) {
    const remedy = OVERRIDABLE.has(exclusion.reason) ? ` ${howToInclude(name)}` : '';
    const what = `${name} would not be sent: ${describeExclusion(exclusion)}. Nothing was sent.`;
    throw new AppError('missing', `${what}${remedy}`);
  }
  const close = closeMatches(path, selection);
  const hint =
    close.length === 0 ? 'Paths are relative to the folder.' : `Did you mean ${printableLine(close.join(' or '))}?`;
  throw new AppError('missing', `There is no file ${name} in the folder, so nothing was sent. ${hint}`);
}

function describeExclusion({ path, reason, rule, at }: Exclusion): string {
  const place = at === undefined ? '' : ` at ${at}`;
  const pattern = rule === undefined ? '' : ` "${rule}"`;
  const detail = pattern === '' && place === '' ? '' : ` (rule${pattern}${place}, for ${path})`;
  return printableLine(`${REASONS[reason]}${detail}`);
}

function closeMatches(path: string, selection: Selection): string[] {
  const wanted = path.replaceAll('\\', '/').toLowerCase();
  return selection.files
    .map((file) => {
      const candidate = file.path.toLowerCase();
      if (candidate === wanted) return { path: file.path, score: 0 };
      const isSameName = basename(candidate) === basename(wanted) || wanted.endsWith(`/${candidate}`);
      return { path: file.path, score: isSameName ? 1 : 1 + editDistance(candidate, wanted, MAX_DISTANCE) };
    })
    .filter(({ score }) => score <= 1 + Math.min(MAX_DISTANCE, Math.floor(wanted.length / 3)))
    .sort((a, b) => a.score - b.score)
    .slice(0, MAX_SUGGESTIONS)
    .map((match) => match.path);
}
