import { repeat } from '../../core/processes/repeat.ts';
import type { AsyncLedger } from './asyncLedger.ts';

/** A lease that is renewed until it is disposed, which releases it. */
export interface HeldLease extends AsyncDisposable {
  /** Aborted once a renewal failed: another process may hold the lease. */
  readonly lost: AbortSignal;
}

/** Renews a lease that was claimed for `leaseMs` milliseconds, three times as often as it would expire. */
export function holdLease(
  ledger: Pick<AsyncLedger, 'renew' | 'release'>,
  id: string,
  { owner, leaseMs }: { readonly owner: string; readonly leaseMs: number },
): HeldLease {
  const lost = new AbortController();
  const end = new AbortController();
  const renew = async (): Promise<void> => {
    if (!(await ledger.renew(id, owner, leaseMs).catch(() => false))) lost.abort();
  };
  const renewing = repeat(renew, leaseMs / 3, end.signal);
  return {
    lost: lost.signal,
    async [Symbol.asyncDispose]() {
      end.abort();
      await renewing;
      // A lease that cannot be released expires; the error would hide that of the work.
      await ledger.release(id, owner).catch(() => {});
    },
  };
}
