import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { openAdmin } from '../../src/service/admin/adminClient.ts';
import { temporaryFolder } from './support/service.ts';
import { ServiceProcess } from './support/serviceProcess.ts';

const KILLS = 5;
const GRANTS_AT_ONCE = 8;

test('a grant whose answer was lost when the service was killed is asked for again, and happens once', async (t) => {
  const home = await temporaryFolder(t);
  let asked = 0;
  let lost = 0;
  for (let kill = 0; kill < KILLS; kill += 1) {
    const service = await ServiceProcess.start(home);
    t.after(() => service.end('SIGKILL'));
    const { data } = service.client;
    const grantAll = async (first: number): Promise<number> => {
      using admin = await openAdmin(data, { mayCreate: false });
      const results = await Promise.allSettled(
        Array.from({ length: GRANTS_AT_ONCE }, (_, index) =>
          admin.call('credits.grant', { account_id: 'ada', amount: 1, reference: `grant ${first + index}` }),
        ),
      );
      return results.filter(({ status }) => status === 'rejected').length;
    };
    if (kill === 0) {
      using admin = await openAdmin(data, { mayCreate: false });
      await admin.call('accounts.add', { account_id: 'ada' });
    }
    const granting = grantAll(asked);
    await sleep(2 + 6 * kill);
    await service.end('SIGKILL');
    lost += await granting;
    // The store itself now: the service is gone, its socket is not.
    assert.equal(await grantAll(asked), 0);
    asked += GRANTS_AT_ONCE;
  }
  t.diagnostic(`${lost} of ${asked} answers were lost`);
  using admin = await openAdmin(`${home}/service`, { mayCreate: false });
  assert.equal((await admin.call('accounts.show', { account_id: 'ada' })).credits_available, asked);
});
