import type { JobCreated } from '../../remote/protocol/schemas.ts';
import { httpStatus, type JobService } from '../service/api.ts';
import { isSurelyNotSent, outcomeUnknown } from '../service/outcome.ts';
import type { JobRecord } from '../ledger/record.ts';
import { askOutcome } from './settle.ts';

/** What came of an upload: a job, surely none, or nobody knows. */
export type UploadEnd =
  | { readonly type: 'accepted'; readonly created: JobCreated }
  | { readonly type: 'not-taken' | 'unknown'; readonly error: unknown };

interface UploadOptions {
  readonly signal: AbortSignal | undefined;
  readonly onProgress: (sentBytes: number, totalBytes: number) => void;
  /** An answer was lost, and the service is asked what it has. */
  readonly onAsk: () => void;
}

// How often an upload goes on that gets no further.
const MAX_TRIES = 3;
const CONFLICT = 409;
// Who stops a submit does not wait for a line that is dead; what became of it is found out later.
const CANCELLED_ASK_MS = 3_000;

/**
 * Sends the archive of a draft, whose id is the key of the submission. Where an answer is lost, a service that knows keys is asked
 * what it has: the job, or so many bytes, after which the upload goes on. To others nothing is sent twice.
 */
export async function uploadArchive(
  service: Pick<JobService, 'submitJob' | 'getSubmission'>,
  draft: JobRecord,
  archive: string,
  { signal, onProgress, onAsk }: UploadOptions,
): Promise<UploadEnd> {
  const isCancelled = (): boolean => signal?.aborted === true;
  let offset: number | undefined;
  let hasLeftWhole = false;
  for (let tries = 0; ; ) {
    const sent = { sentBytes: offset ?? 0, totalBytes: draft.archiveBytes ?? 0 };
    let error: unknown;
    try {
      const created = await service.submitJob(archive, jobOf(draft), {
        idempotencyKey: draft.id,
        ...(offset !== undefined && { offset }),
        ...(signal !== undefined && { signal }),
        onProgress: (bytes, total = sent.totalBytes) => {
          Object.assign(sent, { sentBytes: bytes, totalBytes: total });
          onProgress(bytes, total);
        },
      });
      return { type: 'accepted', created };
    } catch (caught) {
      error = caught;
    }
    // A cancelled upload that had not left whole cannot have made a job; one that had, in this request or before, may well have.
    hasLeftWhole ||= sent.sentBytes >= sent.totalBytes;
    if (isCancelled() && !hasLeftWhole) return { type: 'not-taken', error: signal?.reason };
    // Services that know keys have a conflict while another request under this one is on its way.
    const isConflict = httpStatus(error) === CONFLICT;
    if (isSurelyNotSent(error, { isFirst: offset === undefined }) && !isConflict) return { type: 'not-taken', error };
    onAsk();
    const outcome = await askOutcome(service, draft, {
      signal: isCancelled() ? AbortSignal.timeout(CANCELLED_ASK_MS) : signal,
      ...(isCancelled() && { retryDelaysMs: [] }),
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

function jobOf(draft: JobRecord) {
  return {
    script: draft.script,
    maxRuntime: draft.maxRuntime,
    ...(draft.project !== null && { project: draft.project }),
    ...(draft.venv !== null && { venv: draft.venv }),
    ...(draft.machineClass !== null && { machineClass: draft.machineClass }),
  };
}
