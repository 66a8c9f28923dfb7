import { AppError } from '../../core/errors.ts';
import { RemoteError } from '../http/errors.ts';
import type { SubmissionMeta } from '../protocol/submission.ts';

/** How services answer at an address that they do not have. */
const NO_SUCH_ROUTE: ReadonlySet<number> = new Set([400, 404, 405, 410, 501]);

export interface JobSubmission {
  readonly script: string;
  /** Seconds; truncated to an integer. */
  readonly maxRuntime: number;
  readonly project?: string;
  readonly venv?: Readonly<Record<string, unknown>>;
  readonly machineClass?: string;
}

/** The submission metadata of the specification's section 2.2: optional fields only when they are not empty. */
export function metaOf({ script, maxRuntime, project, venv, machineClass }: JobSubmission): SubmissionMeta {
  if (!Number.isFinite(maxRuntime)) throw new AppError('bad-input', 'The time limit of a job must be a number.');
  return {
    script,
    max_runtime: Math.trunc(maxRuntime),
    ...(project && { project }),
    ...(venv !== undefined && Object.keys(venv).length > 0 && { venv }),
    ...(machineClass && { machine_class: machineClass }),
  };
}

/** The headers that name a submission: draft-ietf-httpapi-idempotency-key-header, and draft-ietf-httpbis-resumable-upload. */
export function submissionHeaders(
  options: { readonly idempotencyKey?: string; readonly offset?: number } = {},
): Record<string, string> {
  const { idempotencyKey: key, offset } = options;
  if (key !== undefined && !/^[\x20-\x7e]{1,255}$/.test(key)) {
    throw new AppError('bad-input', 'The key of a submission must be 1 to 255 printable ASCII characters.');
  }
  return {
    ...(key !== undefined && { 'idempotency-key': `"${key.replaceAll(/["\\]/g, '\\$&')}"` }),
    ...(offset !== undefined && { 'upload-offset': String(offset) }),
  };
}

/** Whether a failed question means that the service does not know what was asked for: it has no such address, or another use for it. */
export function isMissingRoute(error: unknown): boolean {
  return error instanceof RemoteError && (error.status < 400 || NO_SUCH_ROUTE.has(error.status));
}
