import { AppError } from '../../core/errors.ts';
import { RemoteError } from '../http/remoteErrors.ts';
import { type JobSubmission, statedTerms, type SubmissionMeta, wireName } from '../protocol/jobTerms.ts';

/** Statuses that services return for an unknown route. */
const NO_SUCH_ROUTE: ReadonlySet<number> = new Set([400, 404, 405, 410, 501]);

/**
 * The metadata of a submission (specification, section 2.2). Empty optional fields are omitted.
 *
 * @throws AppError `bad-input` if there is no command and the script is not a string, or if the time limit not a number.
 */
export function metaOf(job: JobSubmission): SubmissionMeta {
  const { script, command, maxRuntime } = job;
  if (command === undefined && typeof script !== 'string')
    throw new AppError('bad-input', 'The script of a job must be a string.');
  if (!Number.isFinite(maxRuntime)) throw new AppError('bad-input', 'The time limit of a job must be a number.');
  const others = Object.entries(statedTerms({ ...job, script: null, maxRuntime: null }));
  return {
    ...(command === undefined && { script }),
    max_runtime: Math.trunc(maxRuntime),
    ...Object.fromEntries(others.map(([name, value]) => [wireName(name), value])),
  };
}

/** The headers that identify a submission (draft-ietf-httpapi-idempotency-key-header, draft-ietf-httpbis-resumable-upload). */
export function submissionHeaders(
  options: { readonly idempotencyKey?: string; readonly offset?: number } = {},
): Record<string, string> {
  const { idempotencyKey: key, offset } = options;
  if (key !== undefined && !/^[\x20-\x7e]{1,255}$/.test(key)) {
    throw new AppError('bad-input', 'The idempotency key must be 1 to 255 printable ASCII characters.');
  }
  return {
    ...(key !== undefined && { 'idempotency-key': `"${key.replaceAll(/["\\]/g, '\\$&')}"` }),
    ...(offset !== undefined && { 'upload-offset': String(offset) }),
  };
}

/** Whether a request failed because the service does not have this route, or uses it for something else. */
export function isMissingRoute(error: unknown): boolean {
  return error instanceof RemoteError && (error.status < 400 || NO_SUCH_ROUTE.has(error.status));
}
