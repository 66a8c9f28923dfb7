import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { lowestNode } from '../../../scripts/requirements.mjs';
import { trackedFiles } from '../../../scripts/trackedFiles.ts';

const ROOT = join(import.meta.dirname, '../../..');
const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8');

test('the type check refuses each call that the lowest Node.js does not have, and none that it has', () => {
  const project = join(ROOT, 'test/fixtures/newerNode');
  const { stdout } = spawnSync(process.execPath, ['node_modules/typescript/bin/tsc', '-p', project], {
    cwd: ROOT,
    encoding: 'utf8',
  });
  const refused = Array.from(stdout.matchAll(/^(\S+)\((\d+),\d+\): error/gm), ([, file, line]) => `${file}:${line}`);
  const newer = 'test/fixtures/newerNode/newer.ts';
  const calls = read(newer)
    .split('\n')
    .flatMap((line, index) => (/^(?:$|\/\/|import )/.test(line) ? [] : [`${newer}:${index + 1}`]));
  assert.ok(calls.length >= 20);
  assert.deepEqual(refused, calls);
});

test('the types are those of the lowest Node.js', () => {
  const { devDependencies } = JSON.parse(read('package.json')) as { devDependencies: Record<string, string> };
  assert.match(devDependencies['@types/node'] ?? '', new RegExp(`^${lowestNode().replace('.', '\\.')}\\.\\d+$`));
});

test('sentences that name the lowest Node.js name the one of package.json', () => {
  const files = ['README.md', ...trackedFiles(['src/**/*.ts', 'docs/**/*.md'])];
  const named = files.flatMap((path) =>
    Array.from(read(path).matchAll(/Node(?:\.js)? (\d+\.\d+) or (?:newer|later)/g), ([, version]) => version),
  );
  assert.ok(named.length > 0);
  assert.deepEqual(new Set(named), new Set([lowestNode()]));
});

test('the command line refuses what is older than the lowest Node.js', () => {
  const [, major, minor] = /^const NEEDED = \[(\d+), (\d+)\] as const;/m.exec(read('src/cli/main.ts')) ?? [];
  assert.equal(`${major}.${minor}`, lowestNode());
});
