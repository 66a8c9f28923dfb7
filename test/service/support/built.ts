import { join } from 'node:path';
import { isFresh } from '../../../scripts/build.ts';

/** Path of a program in `dist`: what is shipped is what the tests start. @throws when a source is newer, because it would not be tested. */
export function built(name: 'cli.mjs' | 'flowRunner.mjs' | 'jobRunner.mjs'): string {
  if (!isFresh(name)) throw new Error(`dist/${name} is older than the sources: run \`npm run build\` first.`);
  return join(import.meta.dirname, '../../../dist', name);
}
