import { AppError } from '../../core/errors.ts';
import { RemoteError } from '../http/remoteErrors.ts';
import type { ClusterOptions, SubmissionMeta } from '../protocol/submission.ts';

/** Statuses that services return for an unknown route. */
const NO_SUCH_ROUTE: ReadonlySet<number> = new Set([400, 404, 405, 410, 501]);

export interface JobSubmission {
  /** With its parameters, as in a terminal. */
  readonly script: string;
  /** Seconds; truncated to an integer. */
  readonly maxRuntime: number;
  readonly project?: string;
  /** The Python environment of the job, as the service describes it. */
  readonly venv?: Readonly<Record<string, unknown>>;
  readonly machineClass?: string;
  /** Names of secrets of the account, which the job gets as variables, for services with the feature `secrets`. */
  readonly secrets?: readonly string[];
  /** Names of volumes of the account, whose folders the job has. */
  readonly volumes?: readonly string[];
  /** What the job asks of the cluster of the service. */
  readonly cluster?: ClusterOptions;
}

/** The metadata of a submission (specification, section 2.2). Empty optional fields are omitted. */
export function metaOf({
  script,
  maxRuntime,
  project,
  venv,
  machineClass,
  secrets = [],
  volumes = [],
  cluster,
}: JobSubmission): SubmissionMeta {
  if (typeof script !== 'string') throw new AppError('bad-input', 'The script of a job must be a string.');
  if (!Number.isFinite(maxRuntime)) throw new AppError('bad-input', 'The time limit of a job must be a number.');
  return {
    script,
    max_runtime: Math.trunc(maxRuntime),
    ...(project && { project }),
    ...(venv && Object.keys(venv).length > 0 && { venv }),
    ...(machineClass && { machine_class: machineClass }),
    ...(secrets.length > 0 && { secrets: [...secrets] }),
    ...(volumes.length > 0 && { volumes: [...volumes] }),
    ...(cluster !== undefined && { cluster }),
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
