// Runs the unit tests, or those whose path contains one of the arguments: `npm run test:unit -- core/text retrieval`.
// `--grep TEXT` picks tests by their names.
import { glob } from 'node:fs/promises';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { reportTestFiles } from './testing/report.ts';
import { UNIT_FILES_PER_PROCESS } from './testing/testFiles.ts';

// One more than the two cores that these tests must do with, because some wait for time to pass or for other processes.
const AT_ONCE = 3;

const root = join(import.meta.dirname, '..');
const { values: flags, positionals: names } = parseArgs({
  allowPositionals: true,
  options: { grep: { type: 'string' } },
});
const paths = await Array.fromAsync(glob(['test/unit/**/*.test.ts', 'test/fuzz/*.test.ts'], { cwd: root }));
const files = paths
  .map((path) => path.replaceAll('\\', '/'))
  .filter((path) => names.length === 0 || names.some((name) => path.includes(name)))
  .toSorted()
  .reverse(); // the areas at the end of the alphabet take longest, and must not start last
if (files.length === 0) {
  process.stderr.write(`No path of a unit test contains ${names.join(' or ')}.\n`);
  process.exit(1);
}
process.exitCode = await reportTestFiles({
  files: files.map((path) => join(root, path)),
  concurrency: AT_ONCE,
  filesPerProcess: UNIT_FILES_PER_PROCESS,
  grep: flags.grep,
});
