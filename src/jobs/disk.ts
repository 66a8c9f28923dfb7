import { isDiskFull } from '../core/diskSpace.ts';
import { AppError } from '../core/errors.ts';

/** The error itself, or for a full disk or a used-up quota an AppError `no-space` that says what to do. */
export function diskError(error: unknown): unknown {
  if (!isDiskFull(error)) return error;
  return new AppError('no-space', 'The disk is full. Free some space and try again; the job itself is not affected.', {
    cause: error,
  });
}
