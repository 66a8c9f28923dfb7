import { AppError } from '../../core/errors.ts';

/** The path of a job. @throws AppError `bad-input` for an ID that is not one path segment. */
export function jobPath(jobId: string): string {
  if (typeof jobId !== 'string' || ['', '.', '..'].includes(jobId) || jobId.length > 256 || !jobId.isWellFormed()) {
    const shown = typeof jobId === 'string' ? JSON.stringify(jobId.slice(0, 64)) : String(jobId);
    throw new AppError('bad-input', `${shown} is not a valid job ID.`);
  }
  return `/v1/jobs/${encodeURIComponent(jobId)}`;
}
