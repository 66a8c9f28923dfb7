import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { test } from 'node:test';
import { trackedFiles } from '../../scripts/trackedFiles.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const TEXTS = [
  'src/**/*.{ts,css}',
  '{scripts,bench,test}/**/*.{ts,mjs,cjs}',
  'docs/**/*.md',
  'README.md',
  'package.json',
  'package.nls.json',
];
const REPLACEMENTS = Object.entries(
  JSON.parse(readFileSync(join(import.meta.dirname, 'retiredWords.json'), 'utf8')) as Record<string, string>,
);

test('no retired word is used again', () => {
  const found = trackedFiles(TEXTS).flatMap((path) => {
    const text = readFileSync(join(ROOT, path), 'utf8');
    return REPLACEMENTS.filter(([word]) => new RegExp(`(?<!\\w)${word}(?!\\w)`).test(text)).map(
      ([word, replacement]) => `${path}: say "${replacement}", not "${word}"`,
    );
  });
  assert.deepEqual(found, []);
});
