import { globSync, statSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '../../..');

let newestSourceMs: number | undefined;

/** Path of a program in `dist`: what is shipped is what the tests start. @throws when a source is newer, because it would not be tested. */
export function built(name: 'cli.mjs' | 'flowRunner.mjs' | 'jobRunner.mjs'): string {
  const path = join(ROOT, 'dist', name);
  newestSourceMs ??= Math.max(
    ...globSync('src/**/*.ts', { cwd: ROOT }).map((source) => statSync(join(ROOT, source)).mtimeMs),
  );
  const builtMs = statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
  if (builtMs < newestSourceMs) throw new Error(`dist/${name} is older than the sources: run \`npm run build\` first.`);
  return path;
}
