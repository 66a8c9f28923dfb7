import { AppError } from '../../core/errors.ts';

/** The path of a job. @throws AppError `bad-input` for an ID that is not one path segment. */
export function jobPath(jobId: string): string {
  if (jobId === '' || jobId === '.' || jobId === '..' || jobId.length > 256) {
    throw new AppError('bad-input', `${JSON.stringify(jobId.slice(0, 64))} is not a valid job ID.`);
  }
  return `/v1/jobs/${encodeURIComponent(jobId)}`;
}
