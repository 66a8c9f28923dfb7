import { randomUUID } from 'node:crypto';
import { AppError, systemCode } from '../../core/errors.ts';
import { ArchiveStore } from '../archives/archives.ts';
import { diskError } from '../../core/files/diskSpace.ts';
import type { JobRecord } from '../ledger/record.ts';
import { type SendDeps, sendArchive, type SubmitOptions } from './send.ts';

/**
 * Sends the archive of an earlier job again, unchanged.
 *
 * @throws AppError `missing` if the job does not exist or its archive was removed; otherwise as `sendPlan`.
 */
export async function resubmitJob(deps: SendDeps, id: string, options: SubmitOptions = {}): Promise<JobRecord> {
  const old = await deps.ledger.get(id);
  if (old === undefined) throw new AppError('missing', 'This job is no longer in the list.');
  const store = new ArchiveStore(deps.home);
  const copy = randomUUID();
  try {
    const archive = await store.copyPacked(await store.packedFiles(id), copy).catch(explainMissing);
    return await sendArchive(deps, draftAgain(old, copy, archive), options);
  } catch (error) {
    if (!(error instanceof AppError && error.code === 'outcome-unknown')) await store.discard(copy);
    throw diskError(error, deps.home);
  }
}

function draftAgain(old: JobRecord, id: string, archive: string): JobRecord {
  const fresh = { startedAt: null, finishedAt: null, exitCode: null, reason: null, creditHold: null };
  const unanswered = { waiting: null, answeredBy: null };
  const unread = { creditsCharged: null, lastLogLine: null, results: null, downloadedAt: null, removed: false };
  // The machine class may have a price by now; the service says so.
  const unpriced = { unpricedCpus: null, unpricedGpus: null };
  const createdAt = new Date().toISOString();
  return {
    ...old,
    ...fresh,
    ...unpriced,
    ...unread,
    ...unanswered,
    id,
    jobId: null,
    state: 'sending',
    createdAt,
    archive,
  };
}

function explainMissing(error: unknown): never {
  if (systemCode(error) !== 'ENOENT') throw error;
  throw new AppError(
    'missing',
    'The files of this job are no longer stored, so it cannot be sent again unchanged. Submit the folder as it is now instead.',
    { cause: error },
  );
}
