// Runs the unit tests, or those whose path contains one of the arguments: `npm run test:unit -- core/text retrieval`.
// Options are those of `node --test`.
import { join } from 'node:path';
import { runTestsTwice } from './testAttempts.ts';
import { writeUnitGroups } from './unitGroups.ts';

// One more than the two cores that these tests must do with, because some wait for time to pass or for other processes.
const AT_ONCE = 3;

const args = process.argv.slice(2);
const options = args.filter((text) => text.startsWith('-'));
const names = args.filter((text) => !text.startsWith('-'));

const root = join(import.meta.dirname, '..');
const groups = await writeUnitGroups(root, (path) => names.length === 0 || names.some((name) => path.includes(name)));
if (groups.length === 0) {
  process.stderr.write(`No path of a unit test contains ${names.join(' or ')}.\n`);
  process.exit(1);
}
process.exitCode = runTestsTwice({ files: groups, concurrency: AT_ONCE, args: options });
