import { basename } from 'node:path/posix';
import * as l10n from '@vscode/l10n';
import { AppError } from '../../core/errors.ts';
import { editDistance } from '../../core/text/similar.ts';
import { printableLine } from '../../core/text/printable.ts';
import { splitWords } from '../../core/text/splitWords.ts';
import type { ExclusionReason, Selection } from '../../workspace/select/selection.ts';
import { describeExclusion } from './exclusions.ts';

const MAX_SUGGESTIONS = 3;
const MAX_DISTANCE = 3;

// A file that is left out for another reason cannot be included.
const OVERRIDABLE: ReadonlySet<ExclusionReason> = new Set([
  'gitignore',
  'farwharfignore',
  'user',
  'secret',
  'venv',
  'cache',
  'link',
  'git',
]);

// As written: a word in quotes, or one with escaped blanks and quoted parts. Nothing follows the last group, so it never backtracks.
const FIRST_WORD = /^\s*(?:"(?:[^"\\]|\\.)*"|'[^']*'|(?:"(?:[^"\\]|\\.)*"|'[^']*'|\\.|\S)+)/s;

/** The file that a script line names, without quotes: `train.py` for `train.py --epochs 3`. */
export function scriptPath(script: string): string {
  const firstWord = FIRST_WORD.exec(script)?.[0].trim() ?? '';
  const [word = ''] = splitWords(firstWord) ?? [firstWord];
  return word.replace(/^(?:\.\/)+/, '');
}

// The script that starts a flow in a job has the name of the flow's file; see `FlowJob`.
const FLOW_START = /^"?\.farwharf\/(.+?)\.sh"?(?=\s|$)/;

/** A script line as the user gave it: `chat.mts` for the script that starts that flow in a job. */
export function shownScript(script: string): string {
  return script.replace(FLOW_START, '$1');
}

/** The parameters in a script line, unchanged: `--epochs 3`. */
export function scriptArguments(script: string): string {
  return script.replace(FIRST_WORD, '').trim();
}

/** Why a job cannot run its script, before anything is uploaded. */
export interface ScriptProblem {
  /** A sentence without its full stop. */
  readonly summary: string;
  /** What to do, in sentences. */
  readonly detail: string;
}

/**
 * Why the script is not among the files to send, with close matches or the rule that excludes it; undefined if it is.
 *
 * @param howToInclude how to send a file that a rule excludes, in the terms of the caller's user interface.
 */
export function findScriptProblem(
  selection: Selection,
  script: string,
  howToInclude: (path: string) => string = () => l10n.t('Include it, or change the rule.'),
): ScriptProblem | undefined {
  const path = scriptPath(script);
  if (path === '') {
    return {
      summary: l10n.t('No script is specified'),
      detail: l10n.t('Enter the file to run, such as {0}.', 'train.py'),
    };
  }
  if (splitWords(script) === undefined) {
    return {
      summary: l10n.t('A quote in the script is not closed'),
      detail: l10n.t('Add the other quote, or write {0} before this one.', '\\'),
    };
  }
  if (selection.files.length === 0) {
    const summary = l10n.t('No file in {0} is selected', printableLine(selection.root));
    return { summary, detail: l10n.t('Include the files that the job needs.') };
  }
  if (selection.files.some((file) => file.path === path)) return undefined;
  const name = printableLine(path);
  const exclusion = excludedBy(selection.excluded, path);
  if (exclusion !== undefined) {
    const remedy = OVERRIDABLE.has(exclusion.reason) ? ` ${howToInclude(name)}` : '';
    const why = printableLine(describeExclusion(exclusion));
    return { summary: l10n.t('{0} is left out', name), detail: `${l10n.t('Reason: {0}.', why)}${remedy}` };
  }
  const firstWord = FIRST_WORD.exec(script)?.[0].trim() ?? '';
  // Whoever knows Windows separates folders by what escapes here.
  const close = closeMatches(firstWord.includes('\\') ? firstWord : path, selection);
  const anyOf = new Intl.ListFormat(l10n.t('en-GB'), { type: 'disjunction' });
  const detail =
    close.length === 0
      ? l10n.t('Paths are relative to the folder.')
      : l10n.t('Did you mean {0}?', printableLine(anyOf.format(close)));
  return { summary: l10n.t('{0} does not exist in the folder', name), detail };
}

/** Why a path is left out; undefined if it is not. */
export function excludedBy(excluded: Selection['excluded'], path: string): Selection['excluded'][number] | undefined {
  return excluded.find(
    (entry) =>
      entry.path === path || (entry.type === 'directory' && path.startsWith(`${entry.path.replace(/\/$/, '')}/`)),
  );
}

/** @throws AppError `bad-input` for an empty script or an open quote, and `missing` for what else `findScriptProblem` finds. */
export function requireScript(...parameters: Parameters<typeof findScriptProblem>): void {
  const problem = findScriptProblem(...parameters);
  if (problem === undefined) return;
  const [, script] = parameters;
  const isReadable = scriptPath(script) !== '' && splitWords(script) !== undefined;
  const code = isReadable ? 'missing' : 'bad-input';
  throw new AppError(code, l10n.t('{0}, so nothing was sent. {1}', problem.summary, problem.detail));
}

function closeMatches(path: string, selection: Selection): string[] {
  const lowerPath = path.replaceAll('\\', '/').toLowerCase();
  return selection.files
    .map((file) => {
      const candidate = file.path.toLowerCase();
      if (candidate === lowerPath) return { path: file.path, score: 0 };
      const isSameName = basename(candidate) === basename(lowerPath) || lowerPath.endsWith(`/${candidate}`);
      return { path: file.path, score: isSameName ? 1 : 1 + editDistance(candidate, lowerPath, MAX_DISTANCE) };
    })
    .filter(({ score }) => score <= 1 + Math.min(MAX_DISTANCE, Math.floor(lowerPath.length / 3)))
    .sort((a, b) => a.score - b.score)
    .slice(0, MAX_SUGGESTIONS)
    .map((match) => match.path);
}
