import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readCredits } from '../../../../src/jobs/ledger/budgetInput.ts';

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
