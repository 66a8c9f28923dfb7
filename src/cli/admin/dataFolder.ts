import { join, resolve } from 'node:path';
import { farwharfHome } from '../../core/files/home.ts';
import type { Context } from '../command/commandContext.ts';
import { shellWord } from '../../core/text/shellWord.ts';

/** The data folder of `farwharf serve` and `farwharf admin`: the one that `--data` names, else `serve` in FARWHARF_HOME. */
export function dataFolder(flag: string | undefined, { env, cwd }: Pick<Context, 'env' | 'cwd'>): string {
  return resolve(cwd, flag ?? join(farwharfHome(env), 'serve'));
}

/** A command that a message suggests, such as `key add ada`, for the data folder of the current command. */
export function adminCommand(line: string, { data }: { readonly data?: string | undefined }): string {
  return `farwharf admin ${line}${data === undefined ? '' : ` --data ${shellWord(data)}`}`;
}
