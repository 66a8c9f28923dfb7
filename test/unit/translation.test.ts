import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { getL10nJson } from '@vscode/l10n-dev';
import { trackedFiles } from '../../scripts/trackedFiles.ts';

const ROOT = join(import.meta.dirname, '../..');
const L10N_IMPORT = "import * as l10n from '@vscode/l10n';\n";

type Texts = Readonly<Record<string, string>>;

const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8');
// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- files of this project
const english = JSON.parse(read('package.nls.json')) as Texts;
// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- files of this project
const german = JSON.parse(read('package.nls.de.json')) as Texts;
// An English term, and the German words of which a translation has at least one.
// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- files of this project
const glossary = JSON.parse(read('l10n/glossary.de.json')) as Readonly<Record<string, readonly string[]>>;

// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- files of this project
const germanInCode = JSON.parse(read('l10n/bundle.l10n.de.json')) as Texts;
/** The texts of the sources, each by its key in a bundle. */
const inCode = await getL10nJson(sourcesInBatches(trackedFiles(['src/**/*.ts']).map(read)));

/**
 * The sources that have texts, 32 in each content: the extraction spends 80 ms on preparing for each content, whatever its length, and
 * more than linear time on long ones.
 */
function sourcesInBatches(sources: readonly string[]): { extension: '.ts'; contents: string }[] {
  const withTexts = sources.filter((source) => source.includes(L10N_IMPORT));
  assert.deepEqual(
    sources.filter((source) => source.includes("'@vscode/l10n'") && !source.includes(L10N_IMPORT)),
    [],
  );
  return Array.from({ length: Math.ceil(withTexts.length / 32) }, (_, batch) => ({
    extension: '.ts',
    contents:
      L10N_IMPORT +
      withTexts
        .slice(32 * batch, 32 * (batch + 1))
        .join('\n')
        .replaceAll(L10N_IMPORT, ''),
  }));
}

/** What must be the same in both languages: code, targets of links, references to settings, icons, and places for values. */
function fixedParts(text: string): readonly string[] {
  return (text.match(/`[^`]*`|\]\([^)]*\)|\$\([\w-]+\)|\{\w+\}/g) ?? []).toSorted();
}

/** Code and the targets of links are not translated, so that their words are not terms. */
function prose(text: string): string {
  return text.replaceAll(/`[^`]*`|\]\([^)]*\)/g, ' ');
}

const PAGES = trackedFiles(['media/walkthrough/*.md']);
const PAIRS: readonly (readonly [key: string, english: string, german: string])[] = [
  ...Object.entries(english).map(([key, text]) => [key, text, german[key] ?? ''] as const),
  ...Object.entries(inCode).map(
    ([key, text]) => [key, typeof text === 'string' ? text : text.message, germanInCode[key] ?? ''] as const,
  ),
  ...PAGES.filter((path) => !path.includes('.nls.')).map((path) => {
    const translated = path.replace(/\.md$/, '.nls.de.md'); // VS Code looks for this name
    return [path, read(path), read(translated)] as const;
  }),
];

test('each text of manifest and sources, and each page of a walkthrough, is in German, and no translation is left over', () => {
  assert.deepEqual(Object.keys(german), Object.keys(english));
  assert.deepEqual(Object.keys(germanInCode).toSorted(), Object.keys(inCode).toSorted());
  assert.deepEqual(
    PAIRS.filter(([, , text]) => text.trim() === '').map(([key]) => key),
    [],
  );
  const pages = PAGES.filter((path) => path.includes('.nls.'));
  const expected = PAIRS.filter(([key]) => key.endsWith('.md')).map(([key]) => key.replace(/\.md$/, '.nls.de.md'));
  assert.ok(expected.length > 0);
  assert.deepEqual(pages.toSorted(), expected.toSorted());
});

test('German texts have the code, links, icons and places for values of the English ones, and as many lines', () => {
  for (const [key, from, to] of PAIRS) {
    assert.deepEqual(fixedParts(to), fixedParts(from), key);
    if (!key.endsWith('.md')) assert.equal(to.split('\n').length, from.split('\n').length, key);
  }
});

test('German texts end with dots, a colon, a question mark or a full stop where the English ones do', () => {
  for (const [key, from, to] of PAIRS) {
    for (const dots of ['...', '…', '?', ':']) assert.equal(to.trim().endsWith(dots), from.trim().endsWith(dots), key);
    assert.equal(/[^.]\.$/.test(to.trim()), /[^.]\.$/.test(from.trim()), key);
  }
});

test('German texts use the terms of the glossary', () => {
  const used = new Set<string>();
  for (const [key, from, to] of PAIRS) {
    for (const [term, words] of Object.entries(glossary)) {
      if (!new RegExp(`\\b${term}s?\\b`, 'i').test(prose(from))) continue;
      used.add(term);
      const has = words.some((word) => prose(to).toLowerCase().includes(word.toLowerCase()));
      assert.ok(has, `${key}: "${term}" is ${words.join(' or ')}, not: ${to}`);
    }
  }
  assert.deepEqual([...used].toSorted(), Object.keys(glossary).toSorted());
});

test('German texts address people formally', () => {
  for (const [key, , to] of PAIRS)
    assert.doesNotMatch(prose(to), /\b(?:du|dich|dir|deine?[rsmn]?|euch|eure?[rsmn]?)\b/i, key);
});
