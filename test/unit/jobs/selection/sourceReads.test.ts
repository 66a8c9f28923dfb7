import assert from 'node:assert/strict';
import { test } from 'node:test';
import { guessReads } from '../../../../src/jobs/selection/sourceReads.ts';

const first = (source: string, path = 'train.py'): readonly (string | undefined)[] =>
  guessReads(source, path, path).map(({ paths }) => paths[0]);

const python: readonly [string, string, readonly string[]][] = [
  ['a literal', `pd.read_csv("data/train.csv")`, ['data/train.csv']],
  ['a file name', `open('vocabulary.txt')`, ['vocabulary.txt']],
  ['joined parts', `os.path.join('data', 'train.csv')`, ['data/train.csv', 'train.csv']],
  ['pathlib', `Path("data") / "train.csv"`, ['data/train.csv', 'train.csv']],
  ['an f-string with a value', `open(f"data/{name}.csv")`, []],
  ['a comment and a docstring', `# data/a.csv\n"""reads 'data/b.csv'"""`, []],
  ['a URL, an absolute path and a home folder', `x = ["https://a.org/b.csv", "/etc/b.csv", "~/b.csv"]`, []],
  ['results', `df.to_csv('out/a.csv'); open("out/b.csv", "w"); plt.savefig('c.png'); open('d.txt', mode='a')`, []],
  ['a module', `import model`, ['model.py']],
  ['modules in one line', `import model as m, lib.data`, ['model.py', 'lib/data.py']],
  ['names of a package', `from lib import data, model as m`, ['lib.py', 'lib/data.py', 'lib/model.py']],
];
for (const [name, source, paths] of python) {
  test(`what a Python program reads: ${name}`, () => assert.deepEqual(first(source), paths));
}

test('relative imports start at the folder of the file, others at the folder of the script', () => {
  assert.deepEqual(first('from . import a\nfrom ..b import c', 'src/lib/x.py'), [
    'src/lib/a.py',
    'src/b.py',
    'src/b/c.py',
  ]);
  const [read] = guessReads('import a', 'src/lib/x.py', 'src/main.py');
  assert.deepEqual(read?.paths, ['src/a.py', 'src/a/__init__.py', 'a.py', 'a/__init__.py']);
});

test('what a JavaScript or TypeScript program reads: its relative imports and its literals, on their lines', () => {
  const source = `import { a } from './lib/a.ts';
// './not.ts'
const b = require('../b');
import 'lodash';
await import("./c.mjs");
readFile('data/train.json'); writeFile('out.json', x);`;
  const reads = guessReads(source, 'src/main.ts', 'src/main.ts');
  assert.deepEqual(
    reads.map(({ line, paths, isImport }) => [line, paths[0], isImport]),
    [
      [1, 'src/lib/a.ts', true],
      [3, 'b', true],
      [5, 'src/c.mjs', true],
      [6, 'data/train.json', false],
    ],
  );
});

test('a program in another language is not read', () => {
  assert.deepEqual(first(`open('data/a.csv')`, 'train.sh'), []);
});
