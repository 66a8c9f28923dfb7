import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CHUNK_BOUNDS } from '../../../../src/retrieval/chunks/chunk.ts';
import { chunkText } from '../../../../src/retrieval/chunks/chunkText.ts';
import { isNotebook, LANGUAGES, type Language, languageOf } from '../../../../src/retrieval/chunks/languages.ts';
import { PathFilter } from '../../../../src/retrieval/search/pathFilter.ts';

const LISP: Language = {
  names: ['common-lisp'],
  extensions: ['lisp', 'asd'],
  splitAt: 'definitions',
  definition: /^(\s*)\(def(?:un|macro)\s+([\w-]+)/,
  comment: /^\s*;/,
};

test('one row adds a language: its definitions are split with their comments, and lang: finds its files', () => {
  const languages = [...LANGUAGES, LISP];
  const body = Array.from({ length: 30 }, (_, at) => `  (step ${at})`).join('\n');
  const text = `(in-package :pods)\n\n(defun count-whales (pod)\n${body})\n\n; Greets.\n(defmacro greet ()\n${body})\n`;
  const chunks = chunkText(text, 'src/Whales.LISP', 'smart', CHUNK_BOUNDS, languages);
  assert.deepEqual(
    chunks.map(({ symbols }) => symbols.join()),
    ['count-whales', 'greet'],
  );
  assert.match(chunks[1]?.text ?? '', /^; Greets\./);
  const filter = PathFilter.ALL.withLanguage('Common-Lisp', true, languages);
  assert.deepEqual(
    ['a.lisp', 'b.asd', 'c.py'].map((path) => filter.accepts(path)),
    [true, true, false],
  );
  assert.ok(chunkText(text, 'src/whales.lisp', 'smart').every(({ symbols }) => symbols.length === 0));
});

test('each extension is in one row, in lower case', () => {
  const extensions = LANGUAGES.flatMap((language) => language.extensions);
  assert.deepEqual(extensions, [...new Set(extensions.map((extension) => extension.toLowerCase()))]);
});

test('the language follows from the extension in any case, and a name without a dot has none', () => {
  assert.deepEqual(languageOf('lib/A.PyW')?.names, ['python', 'py']);
  for (const source of ['c', 'src/r', 'Makefile.old/x', 'a.ts/readme'])
    assert.equal(languageOf(source), undefined, source);
  assert.ok(isNotebook('Sea.IPYNB') && !isNotebook('ipynb'));
});

test('lang: accepts a name of several rows, and an extension of no row', () => {
  const accepts = (name: string, path: string): boolean => PathFilter.ALL.withLanguage(name, true).accepts(path);
  for (const path of ['a.h', 'a.cxx']) assert.ok(accepts('c++', path), path);
  assert.ok(accepts('c', 'a.h') && !accepts('c', 'a.cxx'));
  assert.ok(accepts('unknown', 'a.unknown'));
});

const DEFINITIONS: Readonly<Record<string, readonly [text: string, names: string]>> = {
  'a.sh': ['greet() {\n  echo hi\n}\nfunction part {\n  :\n}\n', 'greet part'],
  run: ['#!/usr/bin/env bash\ngreet() {\n  echo hi\n}\n', 'greet'],
  'A.java': [
    'class Ship {\n  public List<Rope> ropesOf(int n) {\n    return moor(n);\n  }\n  Ship(int n) {\n  }\n}\n',
    'Ship ropesOf Ship',
  ],
  'a.cs': [
    'public class Ship\n{\n  public int Sails { get; set; }\n  public Rope Moor(int n) => new Rope(n);\n}\n',
    'Ship Sails Moor',
  ],
  'a.kt': ['fun Buffer.pour(n: Int) {\n}\ndata class Cup(val n: Int)\n', 'pour Cup'],
  'a.c': ['CURLcode moor(int n)\n{\n  return sail(n);\n}\n#define MOST 3\n', 'moor MOST'],
  'a.cc': ['template <typename T> void Ship<T>::moor(int n) { sail(n); }\nclass Rope final {\n};\n', 'moor Rope'],
  'a.rb': ['module Sea\n  def self.moor(n)\n  end\n  def calm?\n  end\nend\n', 'Sea moor calm?'],
  'a.rs': ['impl<T> Display for Ship<T> {\n  fn fmt(&self) {}\n}\n', 'Ship fmt'],
  'a.php': ['use Sea\\Ship;\nforeach ($a as $b) {\n}\nfunction moor($n) {\n}\n', 'moor'],
  'a.ts': ['class Ship {\n  moor(\n    rope: Rope,\n  ): void {\n    sail(\n      1,\n    );\n  }\n}\n', 'Ship moor'],
  'long.ts': [
    `export class Ship implements ${'Sail, '.repeat(40)}Rope {\n  moor(${'rope: Rope, '.repeat(20)}) {\n  }\n}\n`,
    'Ship',
  ],
  'a.js': ['app.moor = function moor(rope) {\n};\non(app, "tide", function sail(rope) {\n});\n', 'moor sail'],
  'a.sql': ['CREATE TABLE IF NOT EXISTS sea.ships (\n  id int\n);\n', 'ships'],
  'a.css': ['.ship > .mast {\n  color: red;\n}\n', 'ship'],
  'a.hs': ['data Ship = Ship Int\nmoor :: Int -> Ship\n', 'Ship moor'],
  'a.ex': ['defmodule Sea.Ship do\n  def moor(n), do: n\nend\n', 'Ship moor'],
  'a.lua': ['function Ship:moor(n)\nend\nlocal sail = function() end\n', 'moor sail'],
  'a.proto': ['message Ship {\n}\nservice Sea {\n  rpc Moor (Ship) returns (Ship);\n}\n', 'Ship Sea Moor'],
  'main.tf': ['resource "sea_ship" "first" {\n}\nvariable "ropes" {\n}\n', 'first ropes'],
  Dockerfile: ['FROM node:24 AS build\nARG SEA=1\n', 'build SEA'],
  Makefile: ['SHIP = 1\nmoor: rope\n\techo $(SHIP)\n', 'SHIP moor'],
};

test('definitions have their names in each language', () => {
  for (const [path, [text, names]] of Object.entries(DEFINITIONS)) {
    const symbols = chunkText(text, path, 'smart').flatMap((chunk) => chunk.symbols);
    assert.equal(symbols.join(' '), names, path);
  }
});

test('hostile lines take no long time in any language', () => {
  const parts = [
    'a ',
    'a.',
    'a(',
    '() ',
    '<a',
    'a::',
    'a<a>::',
    'static ',
    '@a(',
    '[a] ',
    'a, ',
    '* ',
    'pub ',
    'create ',
  ];
  const sources = LANGUAGES.map(({ extensions, fileNames = [] }) =>
    extensions[0] === undefined ? fileNames[0] : `a.${extensions[0]}`,
  );
  const started = process.cpuUsage();
  for (const source of sources) {
    const text = parts.map((part) => `  ${part.repeat(80).slice(0, 157)}!\n`.repeat(20)).join('');
    assert.ok(chunkText(text, source ?? '', 'smart').length > 0);
  }
  // An expression that tries all combinations would not end.
  assert.ok(process.cpuUsage(started).user < 60_000_000);
});
