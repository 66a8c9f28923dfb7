import assert from 'node:assert/strict';
import { test } from 'node:test';
import { logTextOf } from '../../../../src/remote/protocol/spellings.ts';

test('only log events have output, as plain text or in a field', () => {
  assert.equal(logTextOf('log', 'plain\n'), 'plain\n');
  assert.equal(logTextOf('log', { text: 'in a field\n' }), 'in a field\n');
  assert.equal(logTextOf('log', { text: 5 }), undefined);
  assert.equal(logTextOf('state', 'running'), undefined);
  assert.equal(logTextOf('state', { text: 'running' }), undefined);
});
