import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ResultIndex } from '../../../../src/jobs/results/resultIndex.ts';
import { seeded } from '../../../random.ts';

const file = (path: string, size = 1) => ({ path, size, mode: 0o644, offset: 0 });

test('files are found by their paths and folders, in order', () => {
  const index = new ResultIndex(['b', 'a/z', 'a.b/x', 'a/y/1', 'a0', 'a'].map((path, at) => file(path, 2 ** at)));
  assert.equal(index.bytes, 63);
  assert.deepEqual(
    index.files.map(({ path }) => path),
    ['a', 'a.b/x', 'a/y/1', 'a/z', 'a0', 'b'],
  );
  assert.equal(index.find('a/z')?.size, 2);
  for (const path of ['', 'a/', 'a/y', 'zz', 'A']) assert.equal(index.find(path), undefined, path);
  const under = (path: string): string[] => index.under(path).map((each) => each.path);
  assert.deepEqual([under('a'), under('a/y'), under('b'), under('none')], [['a'], ['a/y/1'], ['b'], []]);
  assert.equal(under('').length, 6);
  assert.deepEqual(new ResultIndex([]).level('', 5), { children: [], more: 0 });
});

test('a level has what a list of all paths says, whatever the paths are', () => {
  const below = seeded(3);
  const part = (): string => ['a', 'b', 'a.b', 'a0', 'Z', 'é'][below(6)] ?? '';
  for (let round = 0; round < 60; round += 1) {
    const paths = new Set(
      Array.from({ length: 1 + below(40) }, () => Array.from({ length: 1 + below(3) }, part).join('/')),
    );
    // A path cannot be a file and a folder.
    const files = [...paths]
      .filter((path) => ![...paths].some((other) => other.startsWith(`${path}/`)))
      .map((path) => file(path, below(9)));
    const index = new ResultIndex(files);
    for (const folder of ['', 'a', 'a/b', 'a.b', 'none']) {
      const prefix = folder === '' ? '' : `${folder}/`;
      const inside = files.filter(({ path }) => path.startsWith(prefix));
      const groups = Map.groupBy(inside, ({ path }) => path.slice(prefix.length).split('/')[0] ?? '');
      const expected = [...groups].map(([name, own]) => ({
        path: prefix + name,
        name,
        isFolder: own.some(({ path }) => path !== prefix + name),
        files: own.length,
        bytes: own.reduce((sum, { size }) => sum + size, 0),
      }));
      expected.sort((x, y) => Number(y.isFolder) - Number(x.isFolder) || (x.name < y.name ? -1 : 1));
      assert.deepEqual(index.level(folder, 100), { children: expected, more: 0 }, folder);
      const most = Math.floor(expected.length / 2);
      const { children, more } = index.level(folder, most);
      assert.deepEqual([children.length, more], [most, expected.length - most]);
    }
  }
});
