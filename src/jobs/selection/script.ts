import { basename } from 'node:path/posix';
import * as l10n from '@vscode/l10n';
import { AppError } from '../../core/errors.ts';
import { editDistance } from '../../core/text/similar.ts';
import { printableLine } from '../../core/text/printable.ts';
import { splitWords } from '../../core/text/splitWords.ts';
import type { ExclusionReason, Selection } from '../../workspace/select/selection.ts';
import { kindOfFile } from '../../workspace/scripts/scriptKinds.ts';
import { commandFile, programFile } from './commandFile.ts';
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

/** What a job runs, without the parameters of a script: `train.py`, and a command as a whole. */
export function startedName({ script, command }: RecordedProgram): string {
  const shown = shownScript(script);
  return command === null ? scriptPath(shown) || shown : script;
}

/** The parameters of a script; empty for a command, whose name has them. */
export function startedArguments({ script, command }: RecordedProgram): string {
  return command === null ? scriptArguments(script) : '';
}

/** The path of the notebook that a job runs; undefined for other jobs. */
export function startedNotebook({ script, command }: RecordedProgram): string | undefined {
  const path = command === null ? scriptPath(script) : '';
  return kindOfFile(path)?.name === 'notebook' ? path : undefined;
}

/** What a job runs, as it is recorded. */
interface RecordedProgram {
  readonly script: string;
  readonly command: readonly string[] | null;
}

/** The parameters in a script line, unchanged: `--epochs 3`. */
export function scriptArguments(script: string): string {
  return script.replace(FIRST_WORD, '').trim();
}

type HowToInclude = (path: string) => string;

const includeOrChange: HowToInclude = () => l10n.t('Include it, or change the rule.');

/** What a job starts with. */
export interface StartedProgram {
  /** With its arguments; the title of a command. */
  readonly script: string;
  /** What runs in place of the script. */
  readonly command?: readonly string[] | undefined;
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
  howToInclude: HowToInclude = includeOrChange,
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
  const written = FIRST_WORD.exec(script)?.[0].trim() ?? '';
  // Whoever knows Windows separates folders by what escapes here.
  return findMissingFile(selection, path, { wanted: written.includes('\\') ? written : path, howToInclude });
}

/** Why what a job runs is not among the files to send: as `findScriptProblem`, and for a command as far as the file that it runs is known. */
export function findProblem(
  selection: Selection,
  { script, command }: StartedProgram,
  howToInclude?: HowToInclude,
): ScriptProblem | undefined {
  return command === undefined
    ? findScriptProblem(selection, script, howToInclude)
    : findCommandProblem(selection, command, howToInclude);
}

function findCommandProblem(
  selection: Selection,
  words: readonly string[],
  howToInclude: HowToInclude = includeOrChange,
): ScriptProblem | undefined {
  for (const { paths, isRequired } of [programFile(words), commandFile(words)].filter((file) => file !== undefined)) {
    if (!isRequired || selection.files.some((file) => paths.includes(file.path))) continue;
    const [first = ''] = paths;
    const path = paths.find((each) => excludedBy(selection.excluded, each) !== undefined) ?? first;
    return findMissingFile(selection, path, { wanted: path, howToInclude });
  }
  return undefined;
}

/** @param wanted what the user wrote, for close matches. */
function findMissingFile(
  selection: Selection,
  path: string,
  { wanted, howToInclude }: { readonly wanted: string; readonly howToInclude: HowToInclude },
): ScriptProblem | undefined {
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
  const close = closeMatches(wanted, selection);
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

/** @throws AppError `bad-input` for an empty script or an open quote, and `missing` for what else `findProblem` finds. */
export function requireProgram(...parameters: Parameters<typeof findProblem>): void {
  const problem = findProblem(...parameters);
  if (problem === undefined) return;
  const [, { script, command }] = parameters;
  const isReadable = command !== undefined || (scriptPath(script) !== '' && splitWords(script) !== undefined);
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
