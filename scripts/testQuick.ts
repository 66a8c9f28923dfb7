// For the loop of everyday work: the checks, the unit tests nearest to what has changed, and a job, a flow and a search with what is built.
// What has changed is what is not committed, and the commits that upstream does not have.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { build } from './build.ts';
import { NearestTests } from './testing/nearestTests.ts';
import { reportTestFiles } from './testing/report.ts';
import { UNIT_FILES_PER_PROCESS } from './testing/testFiles.ts';

const ROOT = join(import.meta.dirname, '..');
/** A source that everything uses has hundreds. */
const MAX_TESTS_OF_A_SOURCE = 12;
const ONE_OF_EACH = ['cliMainJob', 'flowRun', 'cliSearch'].map((name) => `test/service/${name}.test.ts`);

build();
const changed = changedFiles();
const nearest = new NearestTests(ROOT);
const tests = new Set(ONE_OF_EACH);
let left = 0;
for (const path of changed) {
  if (/^test\/(unit|fuzz|service)\/.*\.test\.ts$/.test(path)) tests.add(path);
  if (!/^(src|scripts)\/.*\.ts$/.test(path)) continue;
  const own = nearest.of(path);
  for (const test of own.slice(0, MAX_TESTS_OF_A_SOURCE)) tests.add(test);
  left += Math.max(0, own.length - MAX_TESTS_OF_A_SOURCE);
}
const more = left > 0 ? ` Further tests use them too; \`npm test\` runs these.` : '';
process.stderr.write(`${changed.length} changed files, ${tests.size} test files.${more}\n`);

const checking = spawn('npm', ['run', '--silent', 'check'], {
  cwd: ROOT,
  stdio: ['ignore', 'inherit', 'inherit'],
  shell: process.platform === 'win32',
});
const checked = once(checking, 'close');
const tested = await reportTestFiles({
  files: [...tests].filter((path) => existsSync(join(ROOT, path))).map((path) => join(ROOT, path)),
  concurrency: 3,
  filesPerProcess: Math.max(1, Math.min(UNIT_FILES_PER_PROCESS, Math.ceil(tests.size / 6))),
});
await checked;
if (checking.exitCode !== 0) process.stderr.write('npm run check failed; see above.\n');
process.exitCode = tested === 0 ? (checking.exitCode ?? 1) : tested;

/** Paths from the root, those of files that are gone among them. */
function changedFiles(): string[] {
  const upstream = git('merge-base', 'HEAD', '@{upstream}')[0] ?? 'HEAD';
  return [...new Set([...git('diff', '--name-only', upstream), ...git('ls-files', '--others', '--exclude-standard')])];
}

/** Returns the lines that git prints; none if it fails. */
function git(...args: readonly string[]): string[] {
  return spawnSync('git', args, { cwd: ROOT, encoding: 'utf8' }).stdout.split('\n').filter(Boolean);
}
