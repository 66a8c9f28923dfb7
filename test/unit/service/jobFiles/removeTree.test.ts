import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { removeTree } from '../../../../src/service/jobFiles/removeTree.ts';

for (const [what, make] of [
  [
    'names that are no UTF-8',
    `mkdir -p "$(printf 'a\\377')/in"; touch "$(printf 'b\\377')" "$(printf 'a\\377/in/c\\377')"`,
  ],
  ['read-only folders', 'mkdir -p read/only; touch read/only/file; chmod 500 read/only read'],
  [
    'paths too long to be named',
    `n=$(printf 'a%.0s' $(seq 200)); for i in $(seq 30); do mkdir $n; cd $n; echo x > file; done`,
  ],
] as const) {
  test(`a tree with ${what} is removed, and nothing beside it`, async (t) => {
    const folder = mkdtempSync(join(tmpdir(), 'farwharf-remove-'));
    t.after(() => rmSync(folder, { recursive: true, force: true }));
    execFileSync('bash', ['-c', `touch beside; mkdir tree; cd tree; ${make}`], { cwd: folder });
    await removeTree(join(folder, 'tree'));
    assert.deepEqual(readdirSync(folder), ['beside']);
  });
}
