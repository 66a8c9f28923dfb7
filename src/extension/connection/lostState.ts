import { AppError } from '../../core/errors.ts';
import { httpStatus } from '../../jobs/service/api.ts';

/** Why a service cannot be asked: its user is not signed in, it refuses their account, or it does not respond. */
export type LostState = 'signedOut' | 'refused' | 'unreachable';

export function lostState(error: unknown): LostState {
  const status = httpStatus(error);
  if (status === 403) return 'refused';
  return status === 401 || (error instanceof AppError && error.code === 'not-signed-in') ? 'signedOut' : 'unreachable';
}
