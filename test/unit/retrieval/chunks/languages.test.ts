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
  for (const source of ['c', 'src/r', 'Makefile', 'a.ts/readme']) assert.equal(languageOf(source), undefined, source);
  assert.ok(isNotebook('Sea.IPYNB') && !isNotebook('ipynb'));
});

test('lang: accepts a name of several rows, and an extension of no row', () => {
  const accepts = (name: string, path: string): boolean => PathFilter.ALL.withLanguage(name, true).accepts(path);
  for (const path of ['a.h', 'a.cxx']) assert.ok(accepts('c++', path), path);
  assert.ok(accepts('c', 'a.h') && !accepts('c', 'a.cxx'));
  assert.ok(accepts('unknown', 'a.unknown'));
});
