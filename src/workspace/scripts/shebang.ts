import { basename } from 'node:path/posix';
import { splitWords } from '../../core/text/splitWords.ts';

/** How much of a script must be read for its first line. */
export const FIRST_LINE_BYTES = 4096;

/** The program that the first line of a script names. */
export interface Shebang {
  /** A path, or the name of a program that is looked up in the search path. */
  readonly program: string;
  readonly isLookedUp: boolean;
  readonly args: readonly string[];
}

// A program is named by a path or a name, unlike the attributes of a Rust file (`#![allow(…)]`).
const FIRST_LINE = /^\uFEFF?#![ \t]*([\w./+][^\s]*)[ \t]*([^\r\n]*)/;
const SPLIT_OPTION = /^(?:-v?S\s*|--split-string(?:=|\s+))/;

/**
 * Reads the first line of a script (execve(2), section "Interpreter scripts"). `env NAME` names a program that is looked up. Arguments are
 * separated by blanks with and without `env -S`, as macOS does; Linux would pass all of them as one, which no program expects. A line end of
 * Windows is no part of the line.
 *
 * @param start the beginning of the script, at least `FIRST_LINE_BYTES` if it is as long.
 * @returns undefined without a first line that names a program.
 */
export function readShebang(start: Buffer): Shebang | undefined {
  const line = start.toString('utf8', 0, FIRST_LINE_BYTES);
  const [, program, rest = ''] = FIRST_LINE.exec(line) ?? [];
  if (program === undefined) return undefined;
  const text = rest.trimEnd();
  if (basename(program) === 'env') {
    const words = splitWords(text.replace(SPLIT_OPTION, '')) ?? text.split(/[ \t]+/);
    const [name, ...args] = words;
    if (name === undefined) return undefined;
    // Its other options and its variables are its own matter.
    if (/^-|=/.test(name)) return { program, isLookedUp: false, args: words };
    return { program: name, isLookedUp: !name.includes('/'), args };
  }
  const args = text === '' ? [] : text.split(/[ \t]+/);
  return { program, isLookedUp: !program.includes('/'), args };
}
