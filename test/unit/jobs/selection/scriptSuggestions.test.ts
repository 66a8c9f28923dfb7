import assert from 'node:assert/strict';
import { test } from 'node:test';
import { quotePath, remember, suggestScripts } from '../../../../src/jobs/selection/scriptSuggestions.ts';
import { scriptPath } from '../../../../src/jobs/selection/script.ts';

const file = (path: string, mode = 0o644) => ({ path, size: 1, mode, mtimeMs: 0 });

test('scripts and executables are offered, data and libraries are not', () => {
  const files = [file('a.py'), file('b.txt'), file('bin/tool', 0o755), file('c.sh'), file('notes.md', 0o755)];
  assert.deepEqual(suggestScripts(files, []).found, ['a.py', 'c.sh', 'bin/tool']);
});

test('telling names near the root come first, tests last', () => {
  const files = ['lib/main.py', 'zeta.py', 'train.py', 'main.py', 'test_train.py', 'tests/a.py', 'types.d.ts'].map(
    (path) => file(path),
  );
  assert.deepEqual(suggestScripts(files, []).found.slice(0, 4), ['main.py', 'train.py', 'zeta.py', 'lib/main.py']);
});

test('what was used before is offered first, with its parameters, while its file is there', () => {
  const { recent, found } = suggestScripts([file('a.py'), file('b.py')], ['a.py --fast', 'gone.py', 'b.py']);
  assert.deepEqual(recent, ['a.py --fast', 'b.py']);
  assert.deepEqual(found, ['a.py']);
});

test('a path with spaces comes back whole from a command line', () => {
  for (const path of ['plain.py', 'my script.py', 'ünï cöde.py', 'it is "quoted".py'])
    assert.equal(scriptPath(quotePath(path)), path);
});

test('the list of used command lines has each once, the newest first, and ends somewhere', () => {
  assert.deepEqual(remember(['a', 'b'], 'b'), ['b', 'a']);
  assert.equal(
    remember(
      Array.from({ length: 50 }, (_, index) => String(index)),
      'x',
    ).length,
    10,
  );
});
