import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { DEFAULT_CONFIG } from '../../src/service/serviceConfig.ts';

const ROOT = join(import.meta.dirname, '../..');

test('the pages about logs name how much of a job’s output a service stores by default', () => {
  const stored = String(DEFAULT_CONFIG.logs.max_mb_per_job);
  for (const [page, figure] of [
    ['docs/jobs.md', /\((\d+) MB, unless the operator sets `max_mb_per_job`\)/],
    ['docs/service/operations.md', /^max_mb_per_job = (\d+) /m],
  ] as const) {
    assert.equal(figure.exec(readFileSync(join(ROOT, page), 'utf8'))?.[1], stored, page);
  }
});
