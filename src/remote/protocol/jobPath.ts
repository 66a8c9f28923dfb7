import { AppError } from '../../core/errors.ts';

/** The path of a job. A service may name its jobs as it likes, but an id must stay one segment of the path. */
export function jobPath(jobId: string): string {
  if (jobId === '' || jobId === '.' || jobId === '..' || jobId.length > 256) {
    throw new AppError('bad-input', `${JSON.stringify(jobId.slice(0, 64))} is not the id of a job.`);
  }
  return `/v1/jobs/${encodeURIComponent(jobId)}`;
}
