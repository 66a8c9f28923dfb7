import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Index } from '../../../../src/retrieval/index/index.ts';
import { IndexedFolder } from '../indexedFolder.ts';

const FILES: Readonly<Record<string, string>> = {
  'src/retry.ts': 'export function retryDelay(attempt: number): number {\n  return 2 ** attempt;\n}\n',
  'src/parser.ts':
    '/** Reads the settings. */\nexport function parseSettings(text: string): object {\n  if (text === "") throw new Error(`Unexpected end of ${text}`);\n  return JSON.parse(text);\n}\n',
  'src/long.ts': Array.from({ length: 200 }, (_, at) => `export const value${at} = ${at};\n`).join(''),
  'docs/café.md': '# Menü\n\nDas Café öffnet, und die Größe der Tasse stimmt. Straße.\n',
  'docs/notes.md': '# Notes\n\nBuild it now: this work is needed. They cross the bridge.\n',
  'docs/parser.md': '# Parser\n\nThe parser of the settings, and settings of the parser. Deprecated notes.\n',
};
let folder: IndexedFolder;
let index: Index;

before(async () => {
  folder = await IndexedFolder.create(FILES);
  index = folder.index;
});

after(() => folder[Symbol.asyncDispose]());

async function first(query: string): Promise<string | undefined> {
  const [hit] = await index.search(query, 5);
  return hit && `${hit.path}:${hit.startLine}`;
}

test('a path with a line finds the place, also of a file without any word of the query', async () => {
  assert.equal(await first('src/retry.ts'), 'src/retry.ts:1');
  const [hit] = await index.search('at run (/home/sea/src/long.ts:150:3)', 5);
  assert.equal(hit?.path, 'src/long.ts');
  assert.ok(hit.startLine <= 150 && hit.endLine >= 150, `${hit.startLine}-${hit.endLine}`);
});

test('a line of a stack trace or of a compiler finds the place, whatever the tool', async () => {
  for (const frame of [
    '  File "/home/sea/src/long.ts", line 150, in <module>',
    "  File '/home/sea/src/long.ts', line 150",
    'at com.sea.Long.run(long.ts:150)',
    '\t/home/sea/src/long.ts:150 +0x1d',
    '  --> src/long.ts:150:5',
    'src/long.ts(150,3): error TS2304: Cannot find name',
    '   at Sea.Long.Run() in C:\\sea\\src\\long.ts:line 150',
    'PHP Fatal error: Uncaught Error in /home/sea/src/long.ts on line 150',
    'Error at src/long.ts line 150.',
    'src/long.ts#L150',
    '#3 0x00007f in value149 (x=3) at src/long.ts:150',
  ]) {
    const [hit] = await index.search(frame, 5);
    assert.equal(hit?.path, 'src/long.ts', frame);
    assert.ok(hit.startLine <= 150 && hit.endLine >= 150, `${frame}: ${hit.startLine}-${hit.endLine}`);
    assert.equal(index.correct(frame), undefined, frame);
  }
});

test('a pasted error finds its source in spite of quotes, and a phrase that occurs nowhere is not required', async () => {
  assert.equal(await first('SyntaxError: Unexpected end of "{}" at parseSettings'), 'src/parser.ts:1');
  assert.equal(await first('retry "no such phrase anywhere"'), 'src/retry.ts:1');
  assert.deepEqual(
    (await index.search('"settings of the parser"', 5)).map(({ path }) => path),
    ['docs/parser.md'],
  );
});

test('an excluded word is in no result, and alone it is searched', async () => {
  const paths = async (query: string): Promise<string[]> =>
    (await index.search(query, 5)).map(({ path }) => path).sort();
  assert.deepEqual(await paths('settings'), ['docs/parser.md', 'src/parser.ts']);
  assert.deepEqual(await paths('settings -deprecated'), ['src/parser.ts']);
  assert.deepEqual(await paths('-deprecated'), ['docs/parser.md']);
});

test('one wrong, missing, additional or swapped letter is corrected, in identifiers, too', async () => {
  for (const query of ['retryDealy', 'retrDelay', 'retryyDelay', 'retryDelsy', 'rtryDelay']) {
    assert.equal(await first(query), 'src/retry.ts:1', query);
    assert.equal(index.correct(query), 'retryDelay', query);
  }
  assert.equal(index.correct('_retryDelya'), '_retryDelay');
  assert.equal(index.correct('where is parseSettigns'), 'where is parseSettings');
  assert.equal(
    index.correct('what reads the text and the setings of the '.repeat(3)),
    'what reads the text and the settings of the '.repeat(3),
  );
  // Of several words, the one that is defined.
  assert.equal(index.correct('vaue7'), 'value7');
  assert.equal(index.correct('das'), undefined);
  assert.equal(index.correct('dsa'), 'das');
  assert.equal(index.correct('retryDelay of settings'), undefined);
  assert.equal(index.correct('xqzv'), undefined);
  // While it is typed, what begins a word is no mistake.
  assert.equal(index.correct('retryDel', { isTyping: true }), undefined);
  assert.equal(index.correct('retryDealy', { isTyping: true }), 'retryDelay');
});

test('words of questions, and those for who does what the folder contains, are not corrected', async () => {
  for (const query of ['how and where is the builder', 'workers across', 'THE readers of these', 'wie werden notes'])
    assert.equal(index.correct(query), undefined, query);
  assert.equal(await first('how do workers cross the bridge'), 'docs/notes.md:1');
});

test('accents, normal forms and sharp s make no difference', async () => {
  for (const query of ['cafe', 'café', 'Große', 'Größe'.normalize('NFD'), 'Größe', 'strasse', '"die grosse"'])
    assert.equal(await first(query), 'docs/café.md:1', query);
});

test('a query of a megabyte is answered', async () => {
  for (const part of ['a ', '"', 'retry.ts:1 ', '-x ', 'retryDealy']) {
    const hits = await index.search(part.repeat(1_000_000 / part.length), 5);
    assert.ok(hits.length <= 5);
  }
});
