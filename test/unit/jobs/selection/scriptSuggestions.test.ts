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

test('every kind of script is offered, and one that only a program can run is not', () => {
  const scripts = ['a.py', 'b.sh', 'c.js', 'd.mjs', 'e.ts', 'f.sbatch', 'g.slurm'];
  const others = ['h.csv', 'i', 'j.json', 'k.PY', 'l.pyc'];
  const { found } = suggestScripts(
    [...scripts, ...others].map((name) => file(name)),
    [],
  );
  assert.deepEqual(found, scripts);
  for (const mode of [0o755, 0o700, 0o610, 0o601])
    assert.deepEqual(suggestScripts([file('tool', mode), file('x.md', mode)], []).found, ['tool']);
});

test('scripts are in the order of their depth, their names and the alphabet, and unlikely ones last', () => {
  const order = [
    'main.py',
    'train.py',
    'run.py',
    'app.py',
    'index.js',
    'start.sh',
    'a.py',
    'b.py',
    'sub/main.py',
    'sub/a.py',
    'a/b/main.py',
  ];
  const unlikely = [
    'test_a.py',
    'a.test.ts',
    'a.spec.js',
    'a_test.py',
    'a.d.ts',
    'test/main.py',
    'tests/main.py',
    'node_modules/main.js',
  ];
  const { found } = suggestScripts(
    [...order, ...unlikely].toReversed().map((name) => file(name)),
    [],
  );
  assert.deepEqual(found.slice(0, order.length), order);
  assert.deepEqual(found.slice(order.length).toSorted(), unlikely.toSorted());
});

test('a path that a shell would split or change is quoted for a command line', () => {
  for (const [path, quoted] of [
    ['a.py', 'a.py'],
    ['src/a-b_c.py', 'src/a-b_c.py'],
    ['a b.py', '"a b.py"'],
    ["it's.py", `"it's.py"`],
    ['say "a".py', `'say "a".py'`],
    ['a\tb', '"a\tb"'],
  ] as const) {
    assert.equal(quotePath(path), quoted);
  }
});

test('what was used is remembered ten times, trimmed of nothing', () => {
  const ten = Array.from({ length: 10 }, (_, index) => `s${index}`);
  assert.deepEqual(remember(ten, 'new'), ['new', ...ten.slice(0, 9)]);
  assert.deepEqual(remember([], 'a'), ['a']);
  assert.deepEqual(remember(ten, 's9'), ['s9', ...ten.slice(0, 9)]);
});
