// What holds for jobs holds for isolated jobs: the same tests, with jobs in bubblewrap.
import { test } from 'node:test';
import { isolateJobs, isolationIsMissing } from './support/isolation.ts';

const missing = await isolationIsMissing();
if (missing === undefined) {
  isolateJobs();
  await import('./jobs.test.ts');
  await import('./restart.test.ts');
} else {
  test('isolated jobs are not tested here', (t) => t.skip(`NO ISOLATION: ${missing}`));
}
