// Runs the unit tests, or those whose path contains one of the given texts: `npm run test:unit -- core/text retrieval`.
// Options are those of `node --test`.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { COMPILE_CACHE } from './compileCache.ts';
import { writeUnitGroups } from './unitGroups.ts';

// One more than the two cores that these tests must do with, because some wait for time to pass or for other processes.
const AT_ONCE = 3;

const given = process.argv.slice(2);
const options = given.filter((text) => text.startsWith('-'));
const places = given.filter((text) => !text.startsWith('-'));

const root = join(import.meta.dirname, '..');
const groups = await writeUnitGroups(
  root,
  (path) => places.length === 0 || places.some((place) => path.includes(place)),
);
if (groups.length === 0) {
  process.stderr.write(`No path of a unit test contains ${places.join(' or ')}.\n`);
  process.exit(1);
}
const { status } = spawnSync(process.execPath, ['--test', `--test-concurrency=${AT_ONCE}`, ...options, ...groups], {
  stdio: 'inherit',
  env: { NODE_COMPILE_CACHE: COMPILE_CACHE, ...process.env },
});
process.exitCode = status ?? 1;
