import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { DEFAULT_CONFIG } from '../../src/service/serviceConfig.ts';
import { DEFAULT_LIMITS } from '../../src/workspace/extract/extract.ts';

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

test('the page about accounts names the limits of an archive', () => {
  const page = readFileSync(join(ROOT, 'docs/service/accounts.md'), 'utf8').replaceAll(/\s+/g, ' ');
  const { entries, folders, depth, nameBytes, totalBytes, seconds } = DEFAULT_LIMITS;
  const count = (value: number): string => value.toLocaleString('en-US');
  assert.ok(page.includes(`${count(entries)} entries, ${count(folders)} folders`));
  assert.ok(page.includes(`paths of ${depth} names and ${nameBytes / 2 ** 20} MiB of names in total`));
  assert.ok(page.includes(`unpack to ${totalBytes / 2 ** 30} GiB, however well they compress, in at most an hour`));
  assert.equal(seconds, 3600);
});
