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

test('pasted text names no definition as a whole, and costs no more than its start', () => {
  assert.deepEqual(definitionTerms('x'.repeat(201)), []);
  assert.notDeepEqual(definitionTerms('x'.repeat(200)), []);
  const pasted = Array.from({ length: 10_000 }, (_, at) => `callOf${at}()`).join(' ');
  assert.ok(definitionTerms(pasted).length < 30);
});
