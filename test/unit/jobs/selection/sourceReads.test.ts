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
  ['a URL', `x = ["https://a.org/b.csv"]`, []],
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

const reads = (source: string, path = 'src/a.py', main = 'src/main.py') =>
  guessReads(source, path, main).map(({ line, paths, isImport }) => [line, isImport ? 'import' : 'read', ...paths]);

test('a literal is looked for from the folder and from the folder of its file, on its line', () => {
  assert.deepEqual(reads('\n\nopen("data/x.csv")\nopen("y.csv")'), [
    [3, 'read', 'data/x.csv', 'src/data/x.csv'],
    [4, 'read', 'y.csv', 'src/y.csv'],
  ]);
  assert.deepEqual(reads('open("./x.csv")', 'a.py', 'a.py'), [[1, 'read', 'x.csv']]);
});

test('an absolute path, and one below the home folder, is read as it is written', () => {
  const absolute = (source: string) => guessReads(source, 'a.py', 'a.py').map((read) => [read.absolute, ...read.paths]);
  assert.deepEqual(absolute('open("/etc/b.csv"); open("~/b"); open("C:/b.csv"); open("c:\\b.csv")'), [
    ['/etc/b.csv'],
    ['~/b'],
    ['C:/b.csv'],
    ['c:\\b.csv'],
  ]);
  assert.deepEqual(absolute('Path("/data") / "a.csv"')[0], ['/data/a.csv']);
  assert.deepEqual(absolute('open("/out/a.csv", "w"); f("/a/{b}.csv")'), []);
});

test('what looks like a path has a slash or an ending, and nothing that no path has', () => {
  const isRead = (text: string): boolean => reads(`f("${text}")`, 'a.py', 'a.py').length > 0;
  for (const text of ['a/b', 'a.b', 'a.tfrecord', 'x y.csv', '../a.csv', `${'a'.repeat(296)}.csv`]) {
    assert.equal(isRead(text), true, text);
  }
  for (const text of [
    '',
    'a',
    'hello world',
    'a.',
    'a.ninechars',
    '//a.csv',
    '~ada/a.csv',
    'https://a/b',
    'a{b}.csv',
    'a}.csv',
    '*.csv',
    'a?.csv',
    '<a>/b',
    'a|b.csv',
    `${'a'.repeat(297)}.csv`,
  ]) {
    assert.equal(isRead(text), false, text);
  }
  assert.equal(isRead('\\\\a.csv'), false);
});

test('what is written is no read, by the name of the call or by its mode', () => {
  for (const call of [
    'save',
    'savefig',
    'save_model',
    'write',
    'write_text',
    'to_csv',
    'to_parquet',
    'dump',
    'export',
    'mkdir',
    'makedirs',
    'createWriteStream',
    'appendFile',
    'appendFileSync',
  ]) {
    assert.deepEqual(reads(`x.${call}("a.csv")`), [], call);
    assert.deepEqual(reads(`x.${call} ( "a.csv")`), [], call);
  }
  for (const mode of ['w', 'wb', 'a', 'x']) {
    assert.deepEqual(reads(`open("a.csv", "${mode}")`), [], mode);
    assert.deepEqual(reads(`open("a.csv", mode = '${mode}')`), [], mode);
  }
  for (const source of ['open("a.csv", "r")', 'open("a.csv", mode="rb")', 'load("a.csv")', 'read("a.csv", w)']) {
    assert.equal(reads(source).length, 1, source);
  }
});

test('parts that are joined are a path together, up to four of them, and each by itself', () => {
  const [first] = reads(`join("a", "b", 'c.csv')`, 'x.py', 'x.py');
  assert.deepEqual(first, [1, 'read', 'a/b/c.csv', 'a/b']);
  assert.deepEqual(reads(`Path("a") / "b" / "c.csv"`, 'x.py', 'x.py')[0], [1, 'read', 'a/b/c.csv', 'a/b']);
  assert.deepEqual(reads(`f("a.x"); g("b.x")`, 'x.py', 'x.py'), [
    [1, 'read', 'a.x'],
    [1, 'read', 'b.x'],
  ]);
  const five = reads(`join("a", "b", "c", "d", "e.csv")`, 'x.py', 'x.py')[0];
  assert.deepEqual(five, [1, 'read', 'a/b/c/d', 'a/b/c', 'a/b']);
  assert.deepEqual(reads(`f("a" + "b.x")`, 'x.py', 'x.py'), [[1, 'read', 'b.x']]);
});

test('comments and docstrings of Python have no reads, and quotes within a text do not end it', () => {
  assert.deepEqual(
    reads(`# open("a.csv")\n'''"b.csv"'''\n#DOC#\n'c.csv'\n#DOC#\nopen("d.csv")`.replaceAll('#DOC#', '"'.repeat(3))),
    [[6, 'read', 'd.csv', 'src/d.csv']],
  );
  assert.deepEqual(reads(`open("it's/a.csv")`), [[1, 'read', "it's/a.csv", "src/it's/a.csv"]]);
  assert.deepEqual(reads('x = "say \\"a.csv\\""; open("b.csv")'), [[1, 'read', 'b.csv', 'src/b.csv']]);
  assert.deepEqual(reads(`${'"'.repeat(3)}open("a.csv")`), []);
  assert.deepEqual(reads('open("a.csv\n")'), []);
});

test('imports of Python are modules or packages, beside the script or from the folder', () => {
  assert.deepEqual(reads('import a.b as c, d'), [
    [1, 'import', 'src/a/b.py', 'src/a/b/__init__.py', 'a/b.py', 'a/b/__init__.py'],
    [1, 'import', 'src/d.py', 'src/d/__init__.py', 'd.py', 'd/__init__.py'],
  ]);
  assert.deepEqual(reads('\n  from a import (b, c as d)', 'a.py', 'main.py'), [
    [2, 'import', 'a.py', 'a/__init__.py'],
    [2, 'import', 'a/b.py', 'a/b/__init__.py'],
    [2, 'import', 'a/c.py', 'a/c/__init__.py'],
  ]);
  assert.deepEqual(reads('from ...x import y', 'p/q/r/a.py', 'main.py'), [
    [1, 'import', 'p/x.py', 'p/x/__init__.py'],
    [1, 'import', 'p/x/y.py', 'p/x/y/__init__.py'],
  ]);
  assert.deepEqual(reads('from .. import y', 'p/q/a.py', 'main.py'), [[1, 'import', 'p/y.py', 'p/y/__init__.py']]);
  assert.deepEqual(reads('important(x)\nx = 1 # import y\n"import z"'), []);
});

test('imports of JavaScript are files beside it, with an ending or an index, and packages are none', () => {
  const suffixes = ['', '.js', '.mjs', '.cjs', '.ts', '.mts', '.json', '/index.js', '/index.ts'];
  for (const source of [
    `import './b';`,
    `import x from "./b"`,
    `export * from './b'`,
    `require('./b')`,
    `require( './b')`,
    'import(`./b`)',
    `await import ( './b')`,
  ]) {
    assert.deepEqual(
      reads(source, 'src/a.mts', 'x'),
      [[1, 'import', ...suffixes.map((suffix) => `src/b${suffix}`)]],
      source,
    );
  }
  for (const source of [`import 'b/c.js'`, `require('b')`, `// import './b'`, `/* './b' */`, `/* './b'`]) {
    assert.deepEqual(reads(source, 'src/a.js', 'x'), [], source);
  }
  assert.deepEqual(reads('read(`x.csv`); read(`${y}.csv`)', 'a.cjs', 'x'), [[1, 'read', 'x.csv']]);
  for (const path of ['a.js', 'a.mjs', 'a.cjs', 'a.ts', 'a.mts', 'a.cts', 'A.JS', 'a.PY']) {
    assert.equal(reads('f("x.csv")', path, 'x').length, 1, path);
  }
  for (const path of ['a.rb', 'a', 'a.jsx', 'py']) assert.equal(reads('f("x.csv")', path, 'x').length, 0, path);
});
