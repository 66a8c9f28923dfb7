import { AppError } from '../../core/errors.ts';
import { classifyFailure } from '../../core/network/classifyFailure.ts';

/** Why the state of jobs on a service is unknown: the user is not signed in, the service refuses the account, or it does not respond. */
export type LostState = 'signedOut' | 'refused' | 'unreachable';

export function lostState(error: unknown): LostState {
  const failure = classifyFailure(error);
  if (failure === 'forbidden') return 'refused';
  return failure === 'unauthorized' || (error instanceof AppError && error.code === 'not-signed-in')
    ? 'signedOut'
    : 'unreachable';
}
