import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const CONTRACTS = join(import.meta.dirname, '../fixtures/contracts');

/**
 * Checks that what programs of others rely on is as it was published: the JSON in `test/fixtures/contracts`. After a change that is meant,
 * run the test with `FARWHARF_UPDATE_CONTRACTS=1`, and look at each difference.
 */
export function assertContract(name: string, value: unknown): void {
  const path = join(CONTRACTS, `${name}.json`);
  const text = `${JSON.stringify(value, null, 2)}\n`;
  if (process.env['FARWHARF_UPDATE_CONTRACTS'] !== undefined) writeFileSync(path, text);
  assert.deepEqual(JSON.parse(text), JSON.parse(readFileSync(path, 'utf8')));
}
