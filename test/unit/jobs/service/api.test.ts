import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RemoteError } from '../../../../src/remote/http/remoteErrors.ts';
import { fetchAccount } from '../../../../src/jobs/service/api.ts';

test('a service without accounts is used as one whose account says nothing, and any other failure is reported', async () => {
  const refusing = (status: number) => fetchAccount(() => Promise.reject(new RemoteError(status, `HTTP ${status}`)));
  assert.equal(await fetchAccount(async () => 'ada'), 'ada');
  assert.equal(await refusing(404), undefined);
  for (const status of [401, 403, 410, 500]) await assert.rejects(refusing(status), { status });
});
