import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { KeywordIndex } from '../../../../src/retrieval/keywordIndex.ts';
import { relatedTerms } from '../../../../src/retrieval/search/relatedTerms.ts';
import table from '../../../../src/retrieval/search/relatedTerms.json' with { type: 'json' };
import { IndexedFolder } from '../indexedFolder.ts';

const FILES: Readonly<Record<string, string>> = {
  'erase.ts': 'export function eraseAll(rows: string[]): void {\n  for (const row of rows) unlink(row);\n}\n',
  'list.ts': 'export function listAll(rows: string[]): string {\n  return rows.join(", ");\n}\n',
  'prune.ts': 'export function pruneAll(rows: string[]): void {\n  for (const row of rows) delete rows[row];\n}\n',
};
let folder: IndexedFolder;

before(async () => {
  folder = await IndexedFolder.create(FILES);
});

after(() => folder[Symbol.asyncDispose]());

test('code that uses another word for the same is found, after code with the word itself', async () => {
  assert.deepEqual(await folder.found('how are entries deleted'), ['prune.ts', 'erase.ts']);
});

test('phrases, excluded words and paths mean the words as they are written', async () => {
  assert.deepEqual(await folder.found('"delete"'), ['prune.ts']);
  assert.deepEqual(await folder.found('deleted -unlink'), ['prune.ts']);
  assert.deepEqual(await folder.found('rows -delete'), ['erase.ts', 'list.ts']);
  assert.deepEqual(await folder.found('deleted path:erase.ts'), ['erase.ts']);
});

test('the index of the agents library ranks by the words of a query alone', () => {
  const keywords = new KeywordIndex();
  keywords.add(
    Object.entries(FILES).map(([source, text]) => ({ source, text, startLine: 1, endLine: 3, symbols: [], scope: [] })),
  );
  assert.deepEqual(
    keywords.search('deleted', 5).map(({ chunk }) => chunk.source),
    ['prune.ts'],
  );
});

test('each related term is another one, once, with a similarity from 0 to 1, the best first', () => {
  for (const term of Object.keys(table)) {
    const related = relatedTerms(term);
    const similarities = related.map(({ similarity }) => similarity);
    assert.ok(related.length > 0 && !related.some((other) => other.term === term), term);
    assert.equal(new Set(related.map((other) => other.term)).size, related.length, term);
    assert.deepEqual(
      similarities,
      similarities.toSorted((a, b) => b - a),
      term,
    );
    assert.ok(
      similarities.every((similarity) => similarity > 0 && similarity <= 1),
      term,
    );
  }
  for (const inherited of ['__proto__', 'toString', 'valueOf'])
    assert.deepEqual(relatedTerms(inherited), [], inherited);
});
