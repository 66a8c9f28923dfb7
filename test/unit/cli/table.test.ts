import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatTable } from '../../../src/cli/table.ts';

test('columns line up, numbers to the right, and empty ones are left out', () => {
  const rows = [
    ['running', '', '0.5', 'a'],
    ['ok', '', '12', 'b'],
  ];
  assert.deepEqual(formatTable(['STATE', 'MACHINE', 'CR', 'ID'], rows, [2]), [
    'STATE     CR  ID',
    'running  0.5  a',
    'ok        12  b',
  ]);
});
