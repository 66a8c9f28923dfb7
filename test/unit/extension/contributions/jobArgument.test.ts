import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readJobArgument } from '../../../../src/extension/contributions/jobArgument.ts';

test('a job is named by its id or by its row', () => {
  assert.equal(readJobArgument('job-1'), 'job-1');
  assert.equal(readJobArgument({ type: 'job', id: 'uuid' }), 'uuid');
  assert.equal(readJobArgument({ job: 'job-1' }), 'job-1');
  assert.equal(readJobArgument({ id: 5 }), undefined);
  assert.equal(readJobArgument(undefined), undefined);
});
