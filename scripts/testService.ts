// Runs the tests against the real service process, or those whose path contains one of the arguments. `--grep TEXT` picks tests by their names.
import { glob } from 'node:fs/promises';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { isFresh } from './build.ts';
import { reportTestFiles } from './testing/report.ts';

// Most of them wait for a service, a job or a clock.
const AT_ONCE = 8;
/** Files that take longest, and must not start last. */
const LONGEST =
  /^test\/service\/(agent|isolatedJobs|loginNode|machine|package|restart|retention|server|slurm|stray|virtual)/;

const root = join(import.meta.dirname, '..');
const { values: flags, positionals: names } = parseArgs({
  allowPositionals: true,
  options: { grep: { type: 'string' } },
});
if (!isFresh('cli.mjs')) {
  process.stderr.write('dist is older than the sources: run `npm run build` first.\n');
  process.exit(1);
}
const paths = await Array.fromAsync(glob('test/service/**/*.test.ts', { cwd: root }));
const files = paths
  .map((path) => path.replaceAll('\\', '/'))
  .filter((path) => names.length === 0 || names.some((name) => path.includes(name)))
  .toSorted((a, b) => Number(LONGEST.test(b)) - Number(LONGEST.test(a)) || a.localeCompare(b));
if (files.length === 0) {
  process.stderr.write(`No path of a service test contains ${names.join(' or ')}.\n`);
  process.exit(1);
}
process.exitCode = await reportTestFiles({
  files: files.map((path) => join(root, path)),
  concurrency: AT_ONCE,
  grep: flags.grep,
});
