// Runs the tests against the real service process. Options are those of `node --test`.
import { glob } from 'node:fs/promises';
import { join } from 'node:path';
import { isFresh } from './build.ts';
import { runTestsTwice } from './testAttempts.ts';

// Most of them wait for a service, a job or a clock.
const AT_ONCE = 8;

if (!isFresh('cli.mjs')) {
  process.stderr.write('dist is older than the sources: run `npm run build` first.\n');
  process.exit(1);
}
const root = join(import.meta.dirname, '..');
const files = await Array.fromAsync(glob('test/service/**/*.test.ts', { cwd: root }));
process.exitCode = runTestsTwice({
  files: files.toSorted().map((path) => join(root, path)),
  concurrency: AT_ONCE,
  args: process.argv.slice(2),
});
