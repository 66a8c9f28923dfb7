import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ServiceProcess } from './support/serviceProcess.ts';
import { temporaryFolder } from './support/service.ts';

test('a job that makes 130,000 files brings all of them home', { skip: process.platform === 'win32' }, async (t) => {
  // A process of its own: the hooks of the test runner take as long as the work on so many files.
  let stop = async (): Promise<void> => {};
  const home = await temporaryFolder(t, () => stop());
  const running = await ServiceProcess.start(home);
  stop = () => running.end('SIGTERM');
  const service = running.client;
  const id = await service.submit({ 'a.sh': 'seq 1 130000 | xargs touch' }, { script: 'a.sh' });
  const job = await service.untilEnd(id);
  assert.equal(job.state, 'succeeded', job.reason ?? '');
  const artifacts = (await service.events(id)).filter(({ event }) => event === 'artifact');
  assert.equal(artifacts.length, 130_000);
});
