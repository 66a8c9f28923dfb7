import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

const ROOT = join(import.meta.dirname, '../..');
const readme = readFileSync(join(ROOT, 'README.md'), 'utf8');
const SETUP = /^```sh\n(?<main>npm ci && npm start) +#.*\n(?<tests>npm ci && npm test) +#.*\n```$/m;

test('CI runs the test command of the README, and nothing else', () => {
  const script = readFileSync(join(ROOT, '.ci/run'), 'utf8').trimEnd().split('\n');
  const commands = script.filter((line) => !/^(#|set |cd |$)/.test(line));
  assert.deepEqual(commands, [SETUP.exec(readme)?.groups?.['tests']]);
});

test('the two commands that set up a fresh machine are the first of the README', () => {
  assert.equal(readme.search(SETUP), readme.indexOf('```'));
});
