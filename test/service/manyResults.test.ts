import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startService } from './support/service.ts';

test('a job that makes 130,000 files brings all of them home', { skip: process.platform === 'win32' }, async (t) => {
  const service = await startService(t);
  const id = await service.submit({ 'a.sh': 'seq 1 130000 | xargs touch' }, { script: 'a.sh' });
  const job = await service.untilEnd(id);
  assert.equal(job.state, 'succeeded', job.reason ?? '');
  const artifacts = (await service.events(id)).filter(({ event }) => event === 'artifact');
  assert.equal(artifacts.length, 130_000);
});
