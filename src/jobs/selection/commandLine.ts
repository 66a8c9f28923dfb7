import * as l10n from '@vscode/l10n';
import { AppError } from '../../core/errors.ts';
import { commandWords } from '../../remote/protocol/command.ts';
import { printableLine } from '../../core/text/printable.ts';
import { shellWord } from '../../core/text/shellWord.ts';
import { splitWords } from '../../core/text/splitWords.ts';
import { valueRefusal } from './refusals.ts';

/** What only a shell does: an operator, a variable or a pattern. Text in single quotes and escaped characters are skipped. */
const SHELL_SYNTAX =
  /'[^']*'|\\[^]|"(?:[^"\\$`]|\\[^]|\$(?![\w{(]))*"?|(\|\|?|&&?|;|>>?|<<?|\$\(|\$\{?\w+\}?|[`()]|\*)/g;
const ASSIGNMENT = /^[A-Za-z_]\w*=/;

export type CommandLine =
  | { readonly ok: true; readonly words: readonly string[] }
  /** The reason is a sentence with the remedy. */
  | { readonly ok: false; readonly reason: string };

/** Splits a typed command into its words as POSIX shells do, with quotes and backslashes. What only a shell can do is refused. */
export function readCommandLine(line: string): CommandLine {
  const words = splitWords(line);
  if (words === undefined) return refused(l10n.t('A quote is not closed. Add the other one.'));
  const [program] = words;
  if (program === undefined) {
    return refused(l10n.t('Enter a program and its arguments, such as {0}.', 'torchrun --nproc-per-node 2 train.py'));
  }
  const syntax = shellSyntax(line);
  if (syntax !== undefined) {
    const remedy = `sh -c ${shellWord(line.trim())}`;
    return refused(
      l10n.t(
        'Commands run without a shell, which would read {0}. Put it in quotes, or run a shell: {1}',
        syntax,
        remedy,
      ),
    );
  }
  if (ASSIGNMENT.test(program)) {
    return refused(l10n.t('Commands run without a shell, which would set the variable. Run {0}', `env ${line.trim()}`));
  }
  return { ok: true, words };
}

/** @throws AppError `bad-input` for a command that no service runs: an empty or a huge one. */
export function requireCommand(words: readonly string[]): void {
  const refusal = valueRefusal(commandWords, words);
  if (refusal === undefined) return;
  throw new AppError('bad-input', l10n.t('The command is not valid, so nothing was sent: it {0}.', refusal));
}

/** A command for POSIX shells, as it is shown and edited. */
export function writeCommandLine(words: readonly string[]): string {
  return words.map((word) => shellWord(word)).join(' ');
}

function shellSyntax(line: string): string | undefined {
  // The second group is met where double quotes stop at a variable.
  for (const [, operator] of line.trim().matchAll(SHELL_SYNTAX)) if (operator !== undefined) return operator;
  return undefined;
}

function refused(reason: string): CommandLine {
  return { ok: false, reason: printableLine(reason) };
}
