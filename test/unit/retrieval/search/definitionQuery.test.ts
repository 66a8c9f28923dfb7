import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type DefinitionQuery, definitionTerms } from '../../../../src/retrieval/search/definitionQuery.ts';
import { definitionTerm } from '../../../../src/retrieval/tokenizer/definitionTerm.ts';

/** How a query fits the definition of a name. */
const fit = (query: string, name: string): DefinitionQuery['fit'] | undefined =>
  definitionTerms(query).find(({ term }) => term === definitionTerm(name))?.fit;

test('one word names a definition, and with less weight those that differ in their first letter or sign', () => {
  assert.equal(fit('retryDelay', 'retry_delay'), 'exact');
  assert.equal(fit('retryDelay', 'RetryDelay'), 'other form');
  assert.equal(fit('retryDelay', '_retryDelay'), 'other form');
  assert.equal(fit('Net::retryDelay()', 'retryDelay'), 'exact');
  assert.equal(fit('retryDelay', 'retry'), undefined);
});

test('a few words name a function or a type together, with or without the end of a sentence', () => {
  for (const query of ['retry delay', 'retry delay.', 'retry delay?!']) {
    assert.equal(fit(query, 'retryDelay'), 'exact', query);
    assert.equal(fit(query, 'RetryDelay'), 'exact', query);
  }
  assert.equal(fit('Retry delay', 'retryDelay'), 'other form');
  assert.equal(fit('one two three four five six seven', 'oneTwoThreeFourFiveSixSeven'), undefined);
  assert.deepEqual(definitionTerms('what is the'), []);
});

test('a sentence mentions the identifiers in it', () => {
  const sentence = 'why does the call of client.retryDelay() wait longer than max_wait says here';
  assert.deepEqual(
    ['retryDelay', 'maxWait', 'MaxWait', 'client', 'wait'].map((name) => fit(sentence, name)),
    ['mentioned', 'mentioned', 'mentioned', undefined, undefined],
  );
});

test('a sentence mentions the definitions whose names are two words that follow each other', () => {
  const sentence = "why does the JSON reader's buffer stay of use after a token of the stream was read";
  assert.deepEqual(
    ['JsonReader', 'jsonReader', 'readerBuffer', 'theJson', 'tokenStream', 'json'].map((name) => fit(sentence, name)),
    ['mentioned', 'mentioned', 'mentioned', undefined, undefined, undefined],
  );
});

test('pasted text names no definition as a whole, and costs no more than its start', () => {
  assert.deepEqual(definitionTerms('x'.repeat(201)), []);
  assert.notDeepEqual(definitionTerms('x'.repeat(200)), []);
  const pasted = Array.from({ length: 10_000 }, (_, at) => `callOf${at}()`).join(' ');
  assert.ok(definitionTerms(pasted).length < 30);
});

test('a definition counts three times if it is named, half as much if it is mentioned, and less in another form', () => {
  const factorOf = (query: string, name: string): number | undefined =>
    definitionTerms(query).find(({ term }) => term === definitionTerm(name))?.factor;
  assert.equal(factorOf('retryDelay', 'retryDelay'), 3);
  assert.equal(factorOf('retryDelay', 'RetryDelay')?.toFixed(2), '1.20');
  const sentence = 'where is the function retryDelay called in this project of ours';
  assert.equal(factorOf(sentence, 'retryDelay'), 1.5);
  assert.equal(factorOf(sentence, 'RetryDelay')?.toFixed(2), '0.60');
  assert.equal(factorOf('retry delay', 'RetryDelay'), 3);
  assert.equal(factorOf('where is the retry delay of a request that failed in this project', 'RetryDelay'), 0.5);
});

test('identifiers are known by their form, and a part of a qualified name is the last one', () => {
  const isMentioned = (name: string): boolean =>
    fit(
      `please tell me about ${name} and all of its friends`,
      name
        .split(/::|->|[.#\\]/)
        .at(-1)
        ?.replace('()', '') ?? '',
    ) === 'mentioned';
  for (const name of [
    'retryDelay',
    'retry_delay',
    'delay()',
    'Net::delay',
    'net->delay',
    'net.delay',
    'net#delay',
    'net\\delay',
    'a.b.c.delay',
  ]) {
    assert.equal(isMentioned(name), true, name);
  }
  for (const name of ['delay', 'Delay', 'DELAY', '_delay']) assert.equal(isMentioned(name), false, name);
});
