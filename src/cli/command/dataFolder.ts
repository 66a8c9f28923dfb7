import { join, resolve } from 'node:path';
import { farwharfHome } from '../../core/files/home.ts';

/** The data folder of `farwharf serve` and `farwharf admin`: the one that `--data` names, else `serve` in FARWHARF_HOME. */
export function dataFolder(flag: string | undefined, env: NodeJS.ProcessEnv): string {
  return resolve(flag ?? join(farwharfHome(env), 'serve'));
}
