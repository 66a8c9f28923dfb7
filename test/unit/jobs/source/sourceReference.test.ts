import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findReferences } from '../../../../src/jobs/source/sourceReference.ts';

/** Each line of output, and what it refers to: the link's text, path, line and column. */
const LINES: readonly (readonly [output: string, ...references: readonly (readonly unknown[])[]])[] = [
  [
    '  File "/srv/jobs/7/train.py", line 41, in <module>',
    ['File "/srv/jobs/7/train.py", line 41', '/srv/jobs/7/train.py', 41],
  ],
  [
    '  File "C:\\jobs\\my model\\train.py", line 3',
    ['File "C:\\jobs\\my model\\train.py", line 3', 'C:\\jobs\\my model\\train.py', 3],
  ],
  ['    at load (/job/src/load.ts:12:7)', ['/job/src/load.ts:12:7', '/job/src/load.ts', 12, 7]],
  ['    at Object.<anonymous> (/job/my model/a.js:1:2)', ['/job/my model/a.js:1:2', '/job/my model/a.js', 1, 2]],
  ['    at async file:///job/src/main.mjs:5:11', ['file:///job/src/main.mjs:5:11', 'file:///job/src/main.mjs', 5, 11]],
  ["thread 'main' panicked at src/main.rs:4:5:", ['src/main.rs:4:5', 'src/main.rs', 4, 5]],
  ['  --> src/lib.rs:10:9', ['src/lib.rs:10:9', 'src/lib.rs', 10, 9]],
  ['kernels/dot.c:88:3: warning: unused variable', ['kernels/dot.c:88:3', 'kernels/dot.c', 88, 3]],
  ['\tat org.acme.Train$Loop.step(Train.java:31)', ['Train.java:31', 'org/acme/Train.java', 31]],
  ['src/app.ts(12,5): error TS2322: Type', ['src/app.ts(12,5)', 'src/app.ts', 12, 5]],
  ['./train.py:7: DeprecationWarning', ['./train.py:7', './train.py', 7]],
  ['/job/main.go:9 +0x1d', ['/job/main.go:9', '/job/main.go', 9]],
  ['C:\\job\\main.c:3:1: error', ['C:\\job\\main.c:3:1', 'C:\\job\\main.c', 3, 1]],
  ['a.py:1 and b.py:2', ['a.py:1', 'a.py', 1], ['b.py:2', 'b.py', 2]],
  ['epoch 1: loss 0.25, 12:30:45, eta 0:03'],
  ['listening on localhost:8080, 127.0.0.1:9'],
  ['version 1.2:3, ratio 3.5:1, key:1'],
  ['no reference at all'],
];

for (const [output, ...references] of LINES) {
  test(`in ${JSON.stringify(output)}`, () => {
    const found = findReferences(output).map(({ start, end, path, line, column }) =>
      [output.slice(start, end), path, line, column].filter((part) => part !== undefined),
    );
    assert.deepEqual(found, references);
  });
}

test('a frame says on which side of the trace the innermost call is', () => {
  assert.equal(findReferences('  File "a.py", line 1, in f')[0]?.innermost, 'last');
  assert.equal(findReferences('    at f (a.js:1:1)')[0]?.innermost, 'first');
  assert.equal(findReferences('a.c:1:1: error')[0]?.innermost, undefined);
});

test('a long line of anything takes time in proportion to its length', () => {
  for (const piece of ['a.a', 'a.py:1', ':1', '(1', 'at a.', '"/', 'File "', '(a.js:1:1']) {
    assert.ok(findReferences(piece.repeat(500_000)).length <= 2_000);
  }
});

test('the output of a notebook names cells, of that notebook only', () => {
  const find = (output: string, notebook?: string) =>
    findReferences(output, notebook).map(({ start, end, path, line, cell }) => [
      output.slice(start, end),
      path,
      cell,
      line,
    ]);
  const path = 'sub/a b.ipynb';
  assert.deepEqual(find('cell 2 of 3 of a b.ipynb failed: KeyError: 1', path), [
    ['cell 2 of 3 of a b.ipynb', path, 2, 1],
  ]);
  assert.deepEqual(find('Cell In [4], line 2', path), [['Cell In [4], line 2', path, 4, 2]]);
  assert.deepEqual(find('Cell In[4], line 12, in f(x)', path), [['Cell In[4], line 12', path, 4, 12]]);
  assert.deepEqual(find('File "near.py", line 3', path), [['File "near.py", line 3', 'near.py', undefined, 3]]);
  for (const other of ['cell 2 of 3 of b.ipynb failed: x', 'cell 2 of 3', 'Cell In [x], line 2'])
    assert.deepEqual(find(other, path), []);
  assert.deepEqual(find('Cell In [4], line 2'), []);
  assert.ok(findReferences('Cell In [1], line '.repeat(100_000), path).length <= 2_000);
});
