import { isDiskFull } from '../../core/files/diskSpace.ts';
import { AppError } from '../../core/errors.ts';

/** The error itself, or for a full disk or a used-up quota an AppError `no-space` that says which disk it is: that of `place`, unless the error names another. */
export function diskError(error: unknown, place: string): unknown {
  if (!isDiskFull(error)) return error;
  const full = error instanceof Error && 'path' in error && typeof error.path === 'string' ? error.path : place;
  const message = `The disk that holds ${full} is full. Free some space and try again; the job itself is not affected.`;
  return new AppError('no-space', message, { cause: error });
}
