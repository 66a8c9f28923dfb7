import * as z from 'zod';
import { AppError } from '../../core/errors.ts';
import type { JobRecord } from '../ledger/record.ts';
import { classifyFailure } from '../../core/network/classifyFailure.ts';
import type { JobService } from '../service/api.ts';
import { LOCAL_HOST } from '../service/host.ts';

const accountWithId = z.looseObject({ account_id: z.string().min(1) });

/** The ID in the response of `GET /v1/me`; undefined if the service reports none. */
export function reportedAccountId(account: unknown): string | undefined {
  return accountWithId.safeParse(account).data?.account_id;
}

/**
 * A service answers for a job of another account as for one that does not exist. So its absence says something about the job only if the
 * account that asks is the one that sent it.
 *
 * @returns why the absence says nothing; undefined if the service no longer has the job.
 * @throws the service's error if it cannot be asked.
 */
export async function otherAccountError(
  service: Pick<JobService, 'me'>,
  { account, host }: Pick<JobRecord, 'account' | 'host'>,
  options: NonNullable<Parameters<JobService['me']>[0]>,
): Promise<AppError | undefined> {
  // The service of this computer has one account.
  if (host === LOCAL_HOST) return undefined;
  const asking = await service.me(options).then(reportedAccountId, (error: unknown) => {
    if (classifyFailure(error) === 'missing') return undefined; // it has no accounts
    throw error;
  });
  if (asking === undefined || asking === account) return undefined;
  const owner =
    account === null ? 'The account of this job is not known' : `This job belongs to the account ${account}`;
  const message = `${owner}, and you are signed in as ${asking}. Its last known state is kept. Sign in to the account that sent the job.`;
  return new AppError('refused', message);
}
