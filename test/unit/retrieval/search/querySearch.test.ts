import assert from 'node:assert/strict';
import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import type { Chunk } from '../../../../src/retrieval/chunks/chunk.ts';
import { Index } from '../../../../src/retrieval/index/index.ts';
import { KeywordIndex } from '../../../../src/retrieval/keywordIndex.ts';
import { parseQuery } from '../../../../src/retrieval/search/query.ts';
import { scanWords } from '../../../../src/retrieval/tokenizer/scanWords.ts';
import { WordAnalyzer } from '../../../../src/retrieval/tokenizer/wordAnalyzer.ts';
import { seeded } from '../../../random.ts';
import { randomText, randomWord, textChunk } from '../randomCorpus.ts';

const analyzer = new WordAnalyzer();

function indexOf(chunks: readonly Chunk[]): KeywordIndex {
  const index = new KeywordIndex();
  index.add(chunks);
  return index;
}

const texts = (...all: string[]): Chunk[] => all.map((text, at) => textChunk(`f${at}.txt`, text));
const found = (index: KeywordIndex, query: string, limit = 10, isTyping = false): string[] =>
  index.search(parseQuery(query, { isTyping }), limit).map(({ chunk }) => chunk.text);

function wordsOf(text: string): string[] {
  const words: string[] = [];
  scanWords(text, (word) => words.push(word));
  return words;
}

test('a phrase finds what has its words one behind the other', () => {
  const index = indexOf(texts('retry the delay', 'the retry delay', 'delay, retry', 'Retry.\n  Delay()', 'retryDelay'));
  assert.deepEqual(found(index, '"retry delay"').sort(), ['Retry.\n  Delay()', 'the retry delay']);
  assert.deepEqual(found(index, '"the delay" "retry the"'), ['retry the delay']);
  assert.deepEqual(found(index, '"delay the"'), []);
  assert.deepEqual(found(indexOf(texts('日本語の検索機能です', '検索の機能')), '"検索機能"'), ['日本語の検索機能です']);
});

test('phrases give the best of those that have them, as looking at every chunk does', () => {
  const random = seeded(31);
  const chunks = Array.from({ length: 1500 }, (_, at) => textChunk(`f${at}`, randomText(random, 60, 30)));
  const index = indexOf(chunks);
  for (let query = 0; query < 20; query += 1) {
    const phrase = [randomWord(random, 60), randomWord(random, 60)].join(' ');
    const words = `${phrase} ${randomWord(random, 60)}`;
    // The words of the phrase rank as any others do.
    const all = index.search(words, chunks.length).filter(({ chunk }) => ` ${chunk.text} `.includes(` ${phrase} `));
    for (const limit of [1, 7, 50]) {
      const hits = index.search(parseQuery(`"${phrase}" ${words.slice(phrase.length)}`), limit);
      assert.deepEqual(hits, all.slice(0, limit), phrase);
    }
  }
});

test('filters give the best of the files that they choose', () => {
  const random = seeded(32);
  const ends = ['ts', 'py', 'md'];
  const chunks = Array.from({ length: 3000 }, (_, at) =>
    textChunk(`d${random(30)}/f${at}.${ends[random(3)]}`, randomText(random, 60, 30)),
  );
  const index = indexOf(chunks);
  for (let query = 0; query < 40; query += 1) {
    const words = randomText(random, 60, 4);
    const folder = `d${random(30)}/`;
    const all = index.search(words, chunks.length).filter(({ chunk: { source } }) => {
      return source.startsWith(folder) && !source.endsWith('.md');
    });
    assert.deepEqual(index.search(parseQuery(`path:/${folder}** ${words} -lang:md`), 12), all.slice(0, 12));
  }
});

test('a prefix finds every text with a word that begins with it', () => {
  const random = seeded(33);
  const endings = ['', 'ed', 'ing', 's', 'ation', 'er', 'ness', 'y', 'ies'];
  const word = (): string =>
    `${randomWord(random, 200).replaceAll(/\d/g, (digit) => 'kmprtvwxzb'[Number(digit)] ?? '')}${endings[random(endings.length)]}`;
  const chunks = Array.from({ length: 800 }, (_, at) =>
    textChunk(`${at}`, Array.from({ length: 1 + random(10) }, word).join(' ')),
  );
  const index = indexOf(chunks);
  for (let query = 0; query < 40; query += 1) {
    const whole = word();
    const half = whole.slice(0, 3 + random(whole.length - 2));
    const starting = chunks.filter(({ text }) => wordsOf(text).some((own) => own.startsWith(half)));
    const hits = new Set(found(index, half, chunks.length, true));
    const terms = new Set(
      starting.flatMap(({ text }) =>
        wordsOf(text)
          .filter((own) => own.startsWith(half))
          .flatMap((own) => analyzer.termsOf(own)),
      ),
    );
    if (terms.size > 32) continue; // then only the most common of them are looked for
    for (const { text } of starting) assert.ok(hits.has(text), `${half} in ${text}`);
  }
});

test('of many words that begin with a prefix, those in most texts are found', () => {
  const chunks = Array.from({ length: 100 }, (_, at) =>
    Array.from({ length: 1 + at }, (_none, copy) =>
      textChunk(`${at} ${copy}`, `pre${'abcdefghij'[Math.floor(at / 10)]}${'abcdefghij'[at % 10]}q`),
    ),
  ).flat();
  const hits = found(indexOf(chunks), 'pre*', chunks.length);
  const kinds = new Set(hits);
  assert.equal(kinds.size, 32);
  assert.ok(kinds.has('prejjq') && !kinds.has('preaaq'));
});

test('results are the same while removed texts are still in the index', () => {
  const random = seeded(34);
  const index = new KeywordIndex();
  const live = new Map<string, Chunk>();
  for (let step = 0; step < 300; step += 1) {
    const path = `p${random(80)}.${random(2) === 0 ? 'ts' : 'py'}`;
    if (random(4) === 0) {
      live.delete(path);
      index.remove(path);
    } else {
      const chunk = textChunk(path, randomText(random, 300, 20));
      live.set(path, chunk);
      index.replace(path, [chunk]);
    }
    if (step % 10 !== 0) continue;
    const scratch = indexOf([...live.values()]);
    for (const query of [
      'word1*',
      'word2* lang:ts word7x',
      `"${randomWord(random, 30)} ${randomWord(random, 30)}"`,
      'wor*',
    ]) {
      assert.deepEqual(index.search(parseQuery(query), 15), scratch.search(parseQuery(query), 15), query);
    }
  }
});

test('a word that is typed finds its text from the third letter on', () => {
  const chunks = texts(
    'relational organizations',
    'happiness deliveries',
    'retrying hopeful operators',
    'die größeren Häuser',
  );
  const index = indexOf(chunks);
  for (const { text } of chunks) {
    for (const word of text.split(' ')) {
      for (let length = 3; length <= word.length; length += 1) {
        assert.ok(found(index, word.slice(0, length), 10, true).includes(text), word.slice(0, length));
      }
    }
  }
  assert.deepEqual(found(indexOf(texts('検索機能')), '検', 10, true), ['検索機能']);
  assert.deepEqual(found(indexOf(texts('検索機能')), '検索機', 10, true), ['検索機能']);
  assert.deepEqual(found(indexOf(texts('retryDelay = 3')), 'retryDe', 10, true), ['retryDelay = 3']);
});

test('odd queries find what they can, soon', () => {
  const random = seeded(35);
  const index = indexOf(
    Array.from({ length: 2000 }, (_, at) => textChunk(`f${at}`, `${randomText(random, 5000, 40)} to be or not to be`)),
  );
  const many = Array.from({ length: 10_000 }, (_, at) => `word${at}x`).join(' ');
  assert.equal(found(index, many).length, 10);
  assert.equal(found(index, '"to be or not"').length, 10);
  assert.equal(found(index, 'to be or').length, 10, 'nothing but stop words');
  assert.equal(found(index, `${'"'.repeat(9999)} word7x`).length, 10);
  for (const query of ['😀 🏴‍☠️', '\uD800', '"\uDC00\uD800', 'x'.repeat(100_000), 'path:src', '"', '*', '-lang:', '']) {
    assert.deepEqual(found(index, query, 10, true), [], query.slice(0, 20));
  }
  assert.equal(found(index, `${'path:f '.repeat(5000)} word7x`).length, 10);
  assert.equal(found(index, '"word7x" '.repeat(5000)).length, 10);
});

test('in a folder a phrase is looked for in the files as they are', async (t) => {
  const root = await mkdtemp(join(tmpdir(), 'farwharf-query-'));
  t.after(() => rm(root, { recursive: true }));
  const home = join(root, '.home');
  const names = Array.from({ length: 60 }, (_, at) => `f${String(at).padStart(2, '0')}.${at % 2 === 0 ? 'ts' : 'md'}`);
  for (const [at, name] of names.entries()) {
    await writeFile(join(root, name), at % 10 === 9 ? `retry delay ${at}` : `delay, retry and retry ${at}`);
  }
  using index = await Index.open({ root, home });
  const list = async (path: string): Promise<{ path: string; size: number; mtimeMs: number }> => {
    const { size, mtimeMs } = await stat(join(root, path));
    return { path, size, mtimeMs };
  };
  await index.sync(await Promise.all(names.map(list)));
  const paths = async (query: string, limit = 10): Promise<string[]> =>
    (await index.search(query, limit)).map(({ path }) => path);
  assert.deepEqual((await paths('"retry delay"')).sort(), ['f09.md', 'f19.md', 'f29.md', 'f39.md', 'f49.md', 'f59.md']);
  assert.equal((await paths('"retry delay"', 2)).length, 2);
  assert.deepEqual(await paths('"retry delay" lang:ts'), []);
  await writeFile(join(root, 'f09.md'), 'nothing of it');
  assert.ok(!(await paths('"retry delay"')).includes('f09.md'));
});
