import { setTimeout as sleep } from 'node:timers/promises';
import { settleEarlier } from '../jobs/settle.ts';
import type { Services } from './services.ts';

const FIRST_PAUSE_MS = 60_000;
const LAST_PAUSE_MS = 3_600_000;

/**
 * Finds out what became of submissions whose answers were lost, in this window or an earlier one, as soon as their services can be
 * asked: they become jobs that are followed, or have failed. Those of services that cannot tell stay unknown.
 */
export async function keepSettling(
  { hosts, ledger, log }: Pick<Services, 'hosts' | 'ledger' | 'log'>,
  signal: AbortSignal,
): Promise<void> {
  for (let pause = FIRST_PAUSE_MS; !signal.aborted; ) {
    const unanswered = await ledger.list({ state: 'unknown' });
    for (const record of unanswered) {
      if (await hosts.isSignedOut(record.host)) continue;
      const { state, jobId } = await settleEarlier({ service: hosts.service(record.host), ledger }, record, { signal });
      if (state !== record.state) log.info('an unanswered submission was settled', { id: record.id, jobId, state });
    }
    pause = unanswered.length === 0 ? FIRST_PAUSE_MS : Math.min(LAST_PAUSE_MS, 2 * pause);
    await sleep(pause, undefined, { signal, ref: false }).catch(() => {});
  }
}
