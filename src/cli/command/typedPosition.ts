import type { Command, Option } from 'commander';

/** The state of a command line after some words. */
export interface TypedPosition {
  readonly command: Command;
  /** The arguments of the command so far. */
  readonly operands: readonly string[];
  /** The flag whose value comes next. */
  readonly pending: Option | undefined;
  /** Whether `--` was read, after which every word is an argument. */
  readonly areFlagsOver: boolean;
}

/** Reads words as the program would, without running anything. Unknown flags count as flags without a value. */
export function readPosition(program: Command, words: readonly string[]): TypedPosition {
  let command = program;
  let operands: readonly string[] = [];
  let pending: Option | undefined;
  let areFlagsOver = false;
  for (const word of words) {
    const child = operands.length === 0 && !areFlagsOver ? findChild(command, word) : undefined;
    if (pending !== undefined) pending = undefined;
    else if (!areFlagsOver && word === '--') areFlagsOver = true;
    else if (!areFlagsOver && word.startsWith('-') && word !== '-') {
      pending = word.includes('=') ? undefined : findValueFlag(command, word);
    } else if (child !== undefined) command = child;
    else operands = [...operands, word];
  }
  return { command, operands, pending, areFlagsOver };
}

/** The subcommand with this name, including hidden ones. */
export function findChild(command: Command, name: string): Command | undefined {
  return command.commands.find((child) => child.name() === name);
}

/** A flag of the command, or of one above it, that takes a value. */
function findValueFlag(command: Command, word: string): Option | undefined {
  const option = command.options.find(({ long, short }) => long === word || short === word);
  if (option !== undefined) return option.required ? option : undefined;
  return command.parent === null ? undefined : findValueFlag(command.parent, word);
}

/** `admin key add`: the name of a command as it is typed after `farwharf`; empty for the program itself. */
export function commandPath(command: Command): string {
  if (command.parent === null) return '';
  return `${commandPath(command.parent)} ${command.name()}`.trim();
}
