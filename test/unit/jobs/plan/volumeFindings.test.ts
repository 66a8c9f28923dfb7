import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readVolumes, volumeFindings } from '../../../../src/jobs/plan/volumeFindings.ts';

const account = {
  account_id: 'ada',
  volumes: [
    { name: 'datasets', writable: false },
    { name: 'cache', writable: true },
    { writable: true },
    { name: 'odd', writable: 'x' },
  ],
};
const find = (volumes: readonly string[], of: unknown = account) =>
  volumeFindings(volumes, { account: of, service: 'gpu.example.org' });

test('the volumes of an account are those with a name; without a response there are none', () => {
  assert.deepEqual(readVolumes(account), [
    { name: 'datasets', isWritable: false },
    { name: 'cache', isWritable: true },
    { name: 'odd', isWritable: false },
  ]);
  for (const other of [undefined, {}, { volumes: 'x' }, { volumes: null }]) assert.deepEqual(readVolumes(other), []);
});

test('a volume that the account does not have is an error before the upload, with what it has', () => {
  assert.deepEqual(find([]), []);
  assert.deepEqual(find(['datasets', 'cache']), []);
  assert.deepEqual(find(['datasets', 'dataset']), [
    {
      type: 'volumes',
      severity: 'error',
      summary: 'You have no volume dataset on gpu.example.org',
      detail: 'Did you mean datasets? Your volumes: datasets, cache, odd.',
    },
  ]);
  assert.equal(find(['zzzzzz'])[0]?.detail, 'Your volumes: datasets, cache, odd.');
  assert.match(find(['a'], { account_id: 'ada' })[0]?.detail ?? '', /^Your account has no volumes\. Ask/);
  assert.match(volumeFindings(['a'], { account: undefined, service: 's' })[0]?.detail ?? '', /no volumes\. Ask/);
});
