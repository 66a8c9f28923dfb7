import assert from 'node:assert/strict';
import { test } from 'node:test';
import { JobPage } from '../../../../src/jobs/report/jobPage.ts';

const AT = '2026-01-01T00:00:00.000Z';

test('a page has the results that events name, with a bounded number of names', () => {
  const page = new JobPage();
  const push = (data: unknown): void => page.push({ seq: 0, at: AT, event: 'artifact', data });
  for (const other of [null, 'model.pt', { size: 5 }, { path: 5 }]) push(other);
  assert.deepEqual(page.results, { count: 0, bytes: 0, first: [] });
  push({ path: 'model.pt', size: 'big' });
  for (let index = 0; index < 200_000; index += 1) push({ path: `out/${index}`, size: 2 });
  assert.deepEqual([page.results.count, page.results.bytes, page.results.first.length], [200_001, 400_000, 100]);
  assert.deepEqual(page.results.first[0], { path: 'model.pt', bytes: 0 });
});
