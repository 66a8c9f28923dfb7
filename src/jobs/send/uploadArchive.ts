import { RemoteError } from '../../remote/http/remoteErrors.ts';
import { statedTerms } from '../../remote/protocol/jobTerms.ts';
import { type JobCreated, receivedJobCreated } from '../../remote/protocol/schemas.ts';
import { classifyFailure } from '../../core/network/classifyFailure.ts';
import type { JobService } from '../service/api.ts';
import { isSurelyNotSent, outcomeUnknown } from '../service/outcome.ts';
import type { JobRecord } from '../ledger/record.ts';
import { askOutcome, ONCE } from './settle.ts';

/** The outcome of an upload: a job, certainly none, or unknown. */
export type UploadEnd =
  | { readonly type: 'accepted'; readonly created: JobCreated }
  | { readonly type: 'not-taken' | 'unknown'; readonly error: unknown };

export interface UploadReports {
  readonly signal: AbortSignal | undefined;
  /** What the file is: the archive by default, or the names of its contents. */
  readonly part?: 'tarball' | 'contents';
  /** `sentBytes` also counts what was sent again after a lost connection. */
  readonly onProgress: (doneBytes: number, totalBytes: number, sentBytes: number) => void;
  /** Called when a response was lost and the service is asked what it has. */
  readonly onAsk: () => void;
}

// How often an upload without progress is continued.
const MAX_TRIES = 3;
const OK = 200;
// A user who cancels should not wait for a dead connection; the outcome is found out later.
const CANCELLED_ASK_MS = 3_000;

/**
 * Sends the archive of a draft, whose ID is the key of the submission. If a response is lost, a service that supports keys is asked what
 * it has: the job, or a number of bytes from which the upload continues. To other services, nothing is sent twice.
 */
export async function uploadArchive(
  service: Pick<JobService, 'submitJob' | 'getSubmission'>,
  draft: JobRecord,
  archive: string,
  { signal, part, onProgress, onAsk }: UploadReports,
): Promise<UploadEnd> {
  const { script, maxRuntime } = draft;
  const isCancelled = (): boolean => signal?.aborted === true;
  let offset: number | undefined;
  let wasSentCompletely = false;
  let allSentBytes = 0;
  for (let tries = 0; ; ) {
    const sent = { sentBytes: offset ?? 0, totalBytes: draft.archiveBytes ?? 0 };
    let error: unknown;
    try {
      const answer = await service.submitJob(
        archive,
        { ...statedTerms(draft), script, maxRuntime },
        {
          idempotencyKey: draft.id,
          ...(part && { part }),
          ...(offset !== undefined && { offset }),
          ...(signal !== undefined && { signal }),
          onProgress: (bytes, total = sent.totalBytes) => {
            allSentBytes += bytes - sent.sentBytes;
            Object.assign(sent, { sentBytes: bytes, totalBytes: total });
            onProgress(bytes, total, allSentBytes);
          },
        },
      );
      return { type: 'accepted', created: readCreated(answer) };
    } catch (caught) {
      error = caught;
    }
    // A cancelled upload cannot have created a job unless all of it was sent, in this request or before.
    wasSentCompletely ||= sent.sentBytes >= sent.totalBytes;
    if (isCancelled() && !wasSentCompletely) return { type: 'not-taken', error: signal?.reason };
    // Services that support keys return a conflict while another request with this key is in progress.
    const isConflict = classifyFailure(error) === 'conflict';
    if (isSurelyNotSent(error, { isFirst: offset === undefined }) && !isConflict) return { type: 'not-taken', error };
    onAsk();
    const outcome = await askOutcome(service, draft, {
      signal: isCancelled() ? AbortSignal.timeout(CANCELLED_ASK_MS) : signal,
      ...(isCancelled() && { backoff: ONCE }),
    });
    if (outcome.type === 'accepted') return outcome;
    if (outcome.type === 'unknown' && isConflict) return { type: 'not-taken', error };
    if (outcome.type === 'not-taken' && isCancelled()) return { type: 'not-taken', error: signal?.reason };
    tries = outcome.type === 'not-taken' && outcome.receivedBytes > (offset ?? 0) ? 1 : tries + 1;
    if (outcome.type === 'unknown' || tries > MAX_TRIES) {
      return { type: 'unknown', error: outcomeUnknown(draft.host, { ...sent, isCancelled: isCancelled() }, error) };
    }
    offset = outcome.receivedBytes;
  }
}

/** @throws RemoteError for a job ID that is not plain: it would be stored, and copied into commands. */
function readCreated(answer: JobCreated): JobCreated {
  const { data, error } = receivedJobCreated.safeParse(answer);
  if (data !== undefined) return data;
  throw new RemoteError(
    OK,
    `HTTP ${OK}: the service returned a job ID that cannot be used: it ${error.issues[0]?.message}.`,
  );
}
