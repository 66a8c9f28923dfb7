import { join, resolve } from 'node:path';
import { farwharfHome } from '../../core/files/home.ts';
import type { Context } from './context.ts';

/** The data folder of `farwharf serve` and `farwharf admin`: the one that `--data` names, else `serve` in FARWHARF_HOME. */
export function dataFolder(flag: string | undefined, { env, cwd }: Pick<Context, 'env' | 'cwd'>): string {
  return resolve(cwd, flag ?? join(farwharfHome(env), 'serve'));
}
