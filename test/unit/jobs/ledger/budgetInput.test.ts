import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as l10n from '@vscode/l10n';
import { readCredits, typedCredits } from '../../../../src/jobs/ledger/projectBudgets.ts';

test('credits are a plain number, and empty text is no limit', () => {
  assert.deepEqual(readCredits(' 12.5 ', 0), { ok: true, credits: 12.5 });
  assert.deepEqual(readCredits('  ', 50), { ok: true, credits: null });
  for (const text of ['-1', '1e9', '1,5', 'ten', '0x10', '9'.repeat(13)])
    assert.equal(readCredits(text, 0).ok, false, text);
});

test('a hard budget below the soft one is refused', () => {
  assert.deepEqual(readCredits('50', 50), { ok: true, credits: 50 });
  assert.match(JSON.stringify(readCredits('49', 50)), /at least 50/);
});

test('a person types decimals as their language writes them, and a separator of thousands is no decimal mark', () => {
  l10n.config({ contents: { 'en-US': 'de-DE' } });
  try {
    assert.equal(typedCredits(1_234.5), '1234,5');
    assert.deepEqual(readCredits(typedCredits(1_234.5), 0), { ok: true, credits: 1_234.5 });
    for (const text of ['1.000', '12.5', '1,2,3', ',5', '1,'])
      assert.match(JSON.stringify(readCredits(text, 0)), /such as 12,5/, text);
  } finally {
    l10n.config({ contents: {} });
  }
  assert.equal(readCredits('1,000', 0).ok, false);
});
