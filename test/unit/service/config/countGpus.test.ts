import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { countGpus } from '../../../../src/service/config/machineClasses.ts';

test('GPUs are counted as the driver lists them, and a machine without the driver has none', (t) => {
  const driver = mkdtempSync(join(tmpdir(), 'farwharf-gpus-'));
  t.after(() => rmSync(driver, { recursive: true }));
  for (const address of ['0000:17:00.0', '0000:65:00.0']) mkdirSync(join(driver, address));
  assert.equal(countGpus(driver), 2);
  assert.equal(countGpus(join(driver, 'missing')), 0);
});
