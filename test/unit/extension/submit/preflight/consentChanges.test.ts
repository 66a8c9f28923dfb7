import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  type Agreement,
  agreementTo,
  consentChanges,
} from '../../../../../src/extension/submit/preflight/consentChanges.ts';
import type { Selection } from '../../../../../src/workspace/select/selection.ts';

const agreed: Agreement = {
  host: 'https://gpu.example.org',
  bytes: 3_000_000,
  cost: 6,
  reasons: ['gitignore', 'secret'],
  secrets: ['.env'],
  findings: [],
  choices: [],
};

test('the same submit brings nothing new', () => {
  assert.deepEqual(consentChanges(agreed, agreed), []);
});

test('less of everything is nothing new', () => {
  assert.deepEqual(consentChanges(agreed, { ...agreed, bytes: 10, cost: 1, reasons: [], secrets: [] }), []);
});

const changes: readonly [string, Partial<Agreement>, RegExp][] = [
  ['another host', { host: 'local' }, /goes to local/],
  ['a file that looks like a secret', { secrets: ['.env', 'key.pem'] }, /key\.pem looks like a secret/],
  ['another kind of exclusion', { reasons: ['gitignore', 'secret', 'venv'] }, /virtual environment/],
  ['another finding', { findings: ['large-file data.bin'] }, /1 new finding/],
  ['a choice by hand', { choices: ['+.env'] }, /chosen by hand/],
  ['twice the size', { bytes: 6_000_001 }, /grew from 3\.0 MB to 6\.0 MB/],
  ['a higher cost', { cost: 6.5 }, /6\.5 credits/],
];
for (const [name, change, sentence] of changes) {
  test(`${name} is new`, () => {
    const things = consentChanges(agreed, { ...agreed, ...change });
    assert.equal(things.length, 1);
    assert.match(things[0] ?? '', sentence);
  });
}

test('a price that is no longer known is new', () => {
  const { cost: _, ...unpriced } = agreed;
  assert.match(consentChanges(agreed, unpriced)[0] ?? '', /price is not known/);
  assert.deepEqual(consentChanges(unpriced, unpriced), []);
});

test('a known price where none was known is new', () => {
  const { cost: _, ...unpriced } = agreed;
  assert.match(consentChanges(unpriced, agreed)[0] ?? '', /6 credits/);
});

test('a small folder may grow without a question', () => {
  assert.deepEqual(consentChanges({ ...agreed, bytes: 100 }, { ...agreed, bytes: 900_000 }), []);
});

test('the agreement names secrets that stay and secrets that are sent', () => {
  const selection: Selection = {
    root: '/w',
    files: [],
    totalBytes: 5,
    excluded: [
      { path: '.env', type: 'file', reason: 'secret' },
      { path: 'out', type: 'directory', reason: 'gitignore' },
    ],
    findings: [
      { type: 'secret', path: 'config.py', message: 'holds a token' },
      { type: 'large-file', path: 'data.bin', message: 'is large' },
    ],
  };
  assert.deepEqual(agreementTo(selection, { host: 'local', cost: undefined, choices: ['+config.py'] }), {
    host: 'local',
    bytes: 5,
    reasons: ['secret', 'gitignore'],
    secrets: ['.env', 'config.py'],
    findings: ['large-file data.bin'],
    choices: ['+config.py'],
  });
});
