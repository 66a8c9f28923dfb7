import assert from 'node:assert/strict';
import { chmodSync, constants, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join, relative } from 'node:path';
import { test } from 'node:test';
import { findProgram, isAccessible } from '../../../../src/core/processes/findProgram.ts';

test('a program is the first executable file of its name in the absolute folders of a search path', (t) => {
  if (process.platform === 'win32') return t.skip('Windows has no right to execute');
  const root = mkdtempSync(join(tmpdir(), 'farwharf-programs-'));
  t.after(() => rmSync(root, { recursive: true }));
  const [text, folder, first, second] = ['text', 'folder', 'first', 'second'].map((name) => join(root, name));
  assert.ok(text !== undefined && folder !== undefined && first !== undefined && second !== undefined);
  for (const path of [text, first, second]) {
    mkdirSync(path);
    writeFileSync(join(path, 'tool'), '');
    if (path !== text) chmodSync(join(path, 'tool'), 0o755);
  }
  mkdirSync(join(folder, 'tool'), { recursive: true });
  const searchPath = [relative(process.cwd(), first), '', text, folder, second, first].join(delimiter);
  assert.equal(findProgram('tool', searchPath), join(second, 'tool'));
  assert.equal(findProgram('other', searchPath), undefined);
  assert.equal(findProgram('tool', relative(process.cwd(), first)), undefined);
  assert.equal(findProgram('tool', ''), undefined);
});

test('a path is accessible if it exists, and in the way that is asked for', () => {
  const missing = join(import.meta.dirname, 'missing');
  assert.deepEqual([isAccessible(import.meta.filename), isAccessible(missing)], [true, false]);
  assert.equal(isAccessible(import.meta.dirname, constants.X_OK), true);
});
