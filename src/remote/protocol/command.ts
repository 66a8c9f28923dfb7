import * as z from 'zod';
import { printableLine } from '../../core/text/printable.ts';
import { shellWord } from '../../core/text/shellWord.ts';

/** The feature of a service that runs any command in a job's folder, in place of a script. */
export const COMMAND_FEATURE = 'command';

const MAX_WORDS = 1_000;
// Far below the kernel's limit for all arguments and variables (execve(2)), because lists of jobs have the commands too.
const MAX_COMMAND_BYTES = 32 * 1024;
const MAX_TITLE_CHARACTERS = 4_096;

/** Why a command is refused, after "it". */
export const COMMAND_REFUSALS = {
  program: 'must begin with the name of a program',
  nul: 'must not contain NUL',
  words: `must be at most ${MAX_WORDS} words. Write a longer command into a script`,
  bytes: `must be at most ${MAX_COMMAND_BYTES / 1024} KB. Write a longer command into a script`,
} as const;

/** A program, and its arguments: what a job runs without a shell. */
export const commandWords = z
  .array(z.string().regex(/^[^\0]*$/, COMMAND_REFUSALS.nul))
  .min(1, COMMAND_REFUSALS.program)
  .max(MAX_WORDS, COMMAND_REFUSALS.words)
  // What starts a container would take it for an option of its own.
  .refine(([program]) => !/^(?:-|$)/.test(program ?? ''), COMMAND_REFUSALS.program)
  .refine(
    (words) => words.reduce((sum, word) => sum + Buffer.byteLength(word) + 1, 0) <= MAX_COMMAND_BYTES,
    COMMAND_REFUSALS.bytes,
  );

/** A command as the title of its job: one line for POSIX shells, of at most 4,096 characters, without anything that must not be shown. */
export function commandTitle(words: readonly string[]): string {
  const line = printableLine(words.map((word) => shellWord(word)).join(' '));
  return line.length <= MAX_TITLE_CHARACTERS ? line : `${line.slice(0, MAX_TITLE_CHARACTERS - 1).toWellFormed()}…`;
}
