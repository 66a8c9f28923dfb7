import assert from 'node:assert/strict';
import { test } from 'node:test';
import { systemCode } from '../../src/core/errors.ts';
import { until } from './commandLine.ts';
import type { Fault } from './support/faultyLine.ts';
import { FaultyProxy } from './support/faultyProxy.ts';
import { FaultySite } from './support/faultySite.ts';
import { type Transfer, TRANSFERS } from './support/faultyTransfers.ts';

/** So long that only an abort ends a request. */
const FOREVER_SECONDS = 3_600;
/** Whatever connection is tried next. */
const DEAD: readonly Fault[] = Array.from({ length: 20 }, () => ({ type: 'stall', side: 'request', after: 0 }));
const PLACES: Readonly<Record<Transfer['name'], readonly Fault['after'][]>> = {
  upload: [0, 5_000, 'all'],
  answer: [0, 100],
  events: [0, 5_000],
  download: [0, 5_000],
};
const guarded = { timeout: 120_000 };

test('any transfer on a dead connection can be stopped without waiting', guarded, async (t) => {
  const site = await FaultySite.start(t);
  for (const transfer of TRANSFERS) {
    for (const after of PLACES[transfer.name]) {
      const abort = new AbortController();
      const onStrike = async (): Promise<void> => abort.abort();
      const first: Fault = { type: 'stall', side: transfer.side, after, isPost: after === 'all', onStrike };
      await using proxy = await FaultyProxy.listen(() => site.service.url, [first, ...DEAD]);
      const outcome = await transfer.run(site, { url: proxy.url, idle: FOREVER_SECONDS, signal: abort.signal });
      assert.equal(outcome.type, 'failed', `${transfer.name} at ${after}`);
      const code = systemCode(outcome.error) ?? (outcome.error as Error).name;
      assert.ok(['AbortError', 'outcome-unknown'].includes(code), `${transfer.name} at ${after}: ${code}`);
    }
  }
  await site.checkBalance();
});

test(
  'a submission stopped while resuming is looked up, since its first part may have arrived completely',
  guarded,
  async (t) => {
    // More than the system takes from a client before it is read, so that the rest cannot leave.
    const site = await FaultySite.start(t, { sentBytes: 24_000_000 });
    const arrives = Promise.withResolvers<void>();
    const stalled = Promise.withResolvers<void>();
    const late: Fault = {
      type: 'late',
      side: 'request',
      after: 200_000,
      isPost: true,
      onStrike: () => arrives.promise,
    };
    const stall: Fault = {
      type: 'stall',
      side: 'request',
      after: 10,
      isPost: true,
      onStrike: async () => stalled.resolve(),
    };
    await using proxy = await FaultyProxy.listen(() => site.service.url, [late, stall]);
    const abort = new AbortController();
    const upload = TRANSFERS.find(({ name }) => name === 'upload');
    assert.ok(upload);
    const sending = upload.run(site, { url: proxy.url, idle: 8, signal: abort.signal });
    await stalled.promise;
    const countJobs = async (): Promise<number> =>
      (await site.service.json<{ jobs: object[] }>('/v1/jobs')).jobs.length;
    const before = await countJobs();
    arrives.resolve();
    await until(async () => (await countJobs()) > before);
    abort.abort();
    assert.equal((await sending).type, 'recovered');
    await site.checkBalance();
  },
);
