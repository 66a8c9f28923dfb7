import type { Command, CommanderError } from 'commander';
import { pathOf, readPosition } from './position.ts';

/** Describes a usage error and names the help that explains the command, on one line. */
export function describeUsageError({ message }: CommanderError, program: Command, argv: readonly string[]): string {
  const { command } = readPosition(program, argv);
  const explained = command.name() === 'help' ? (command.parent ?? command) : command;
  const problem = message.replace(/^error: /, '').replace(/\n\((Did you mean .*\?)\)$/, '. $1');
  const ending = /[.?]$/.test(problem) ? '' : '.';
  return `${problem}${ending} Run: farwharf help ${pathOf(explained)}`.trimEnd();
}
