import { AppError } from '../../core/errors.ts';
import { httpStatus } from '../../jobs/service/api.ts';

/** Why the state of jobs on a service is unknown: the user is not signed in, the service refuses the account, or it does not respond. */
export type LostState = 'signedOut' | 'refused' | 'unreachable';

export function lostState(error: unknown): LostState {
  const status = httpStatus(error);
  if (status === 403) return 'refused';
  return status === 401 || (error instanceof AppError && error.code === 'not-signed-in') ? 'signedOut' : 'unreachable';
}
