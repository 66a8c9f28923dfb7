import assert from 'node:assert/strict';
import { test } from 'node:test';
import lunr from 'lunr';
import { isStopWord } from '../../../../src/retrieval/tokenizer/stopWords.ts';
import { orderTerms } from '../../../../src/retrieval/segments/segmentBuilder.ts';
import { Vocabulary, WordList } from '../../../../src/retrieval/tokenizer/vocabulary.ts';
import { COUNT, FIRST, SECOND } from '../../../../src/retrieval/kernel/assembly/kernelLayout.ts';
import { Stemmer, WordAnalyzer } from '../../../../src/retrieval/tokenizer/wordAnalyzer.ts';
import { type Below, seeded } from '../../../random.ts';
import { bytesOf } from './bytesOf.ts';
import { plainTermsOf } from './plainTerms.ts';

const pick = (random: Below, from: readonly string[], most: number): string =>
  Array.from({ length: 1 + random(most) }, () => from[random(from.length)]).join('');

const ENDINGS =
  'ational tional enci anci izer bli alli entli eli ousli ization ation ator alism iveness fulness ousness aliti iviti biliti logi icate ative alize iciti ical ful ness al ance ence er ic able ible ant ement ment ent ou ism ate iti ous ive ize ion sion tion sses ies ss s eed ed ing y e ll'.split(
    ' ',
  );

test('stems are those of lunr', () => {
  const stemmer = new Stemmer();
  const random = seeded(51);
  const syllables = [...Array.from('aeiouybdlstxwz'), 'tr', 'pl', 'ss', 'ff', 'at', 'iz', '9'];
  for (let round = 0; round < 60_000; round += 1) {
    const word = pick(random, syllables, 4) + (random(4) === 0 ? '' : pick(random, ENDINGS, 2));
    const expected = lunr.stemmer(new lunr.Token(word, {})).toString();
    assert.equal(stemmer.stem(word), expected, word);
  }
});

test('stop words are those of lunr, in any case', () => {
  const isStopWordOfLunr = (word: string): boolean => {
    const token = new lunr.Token(word, {});
    return (lunr.stopWordFilter(token) as lunr.Token | undefined) === undefined;
  };
  const random = seeded(52);
  const letters = Array.from('aehinorstuwy');
  const words = [
    'the',
    'would',
    'tis',
    'constructor',
    '',
    ...Array.from({ length: 60_000 }, () => pick(random, letters, 4)),
  ];
  assert.ok(words.filter(isStopWordOfLunr).length > 100);
  for (const word of words) assert.equal(isStopWord(word), isStopWordOfLunr(word), word);
  assert.equal(isStopWord('The'), true);
});

function termsByWord(vocabulary: Vocabulary, text: string): string[][] {
  const { memory, words, terms } = vocabulary;
  const list = new WordList(memory);
  vocabulary.read(text, list);
  const names = new Map<number, string>();
  for (let record = terms.table.first; record !== terms.table.end; record = terms.table.behind(record)) {
    names.set(terms.table.numberOf(record, FIRST), bytesOf(memory, terms.table, record).toString());
  }
  const at = list.buffer.address / 4;
  return [...memory.numbers.subarray(at, at + list.count)].map((word) => {
    const first = (terms.lists.address + words.numberOf(word, FIRST)) / 4;
    const numbers = memory.numbers.subarray(first, first + words.numberOf(word, SECOND));
    return Array.from(numbers, (term) => names.get(term) ?? '');
  });
}

test('words have the same terms in a folder, in a query and by the plain definition', () => {
  const random = seeded(52);
  const analyzer = new WordAnalyzer();
  const vocabulary = new Vocabulary();
  const pieces = [...Array.from('aAbBzZ019_$'), 'Http', 'SERVER', 'ies', 'ing', 'größe', 'É', '検索', 'x'.repeat(30)];
  const words = Array.from({ length: 8000 }, (_, at) => pick(random, pieces.slice(0, at % 2 === 0 ? 16 : 20), 7));
  const expected = words.map((word) => [...plainTermsOf(word)]);
  assert.deepEqual(
    words.map((word) => analyzer.termsOf(word)),
    expected,
  );
  assert.deepEqual(termsByWord(vocabulary, words.join(' ')), expected);
  vocabulary.clear();
  assert.deepEqual(termsByWord(vocabulary, words.join(' ')), expected, 'in the same buffer again');
});

function countsByWord({ memory, words, counted }: Vocabulary): Map<string, number> {
  const at = counted.buffer.address / 4;
  const counts = new Map<string, number>();
  for (const word of memory.numbers.subarray(at, at + counted.count)) {
    counts.set(bytesOf(memory, words, word).toString(), words.numberOf(word, COUNT));
  }
  return counts;
}

test('parts of a text count as if they were texts', () => {
  const random = seeded(54);
  for (const letters of ['abC_ ', 'abC_ ß検 ']) {
    const [whole, apart] = [new Vocabulary(), new Vocabulary()];
    for (let round = 0; round < 200; round += 1) {
      const text = ` ${pick(random, Array.from(letters), 200)} `;
      const blanks = Array.from(text.matchAll(/ /g), ({ index }) => index).filter(() => random(3) === 0);
      const places = blanks.slice(0, blanks.length & ~1);
      assert.equal(whole.count(text, 1), apart.count(text, 1));
      whole.countParts(text, places, 3);
      for (let at = 0; at < places.length; at += 2) apart.count(text.slice(places[at], places[at + 1]), 3);
      assert.deepEqual(countsByWord(whole), countsByWord(apart));
    }
  }
});

test('terms come in the order of their bytes', () => {
  const random = seeded(53);
  const vocabulary = new Vocabulary();
  const letters = [...Array.from('abcz09'), 'ß', '検', '𝒳', 'aaaa', 'longer'];
  const words = Array.from({ length: 20_000 }, () => pick(random, letters, 8));
  vocabulary.read(words.join(' '), new WordList(vocabulary.memory));
  const { memory, terms } = vocabulary;
  const { table } = terms;
  const ordered = Array.from(orderTerms(memory, table), (record) => bytesOf(memory, table, record));
  assert.ok(ordered.length > 5000);
  assert.deepEqual(
    ordered,
    ordered.toSorted((a, b) => Buffer.compare(a, b)),
  );
});
