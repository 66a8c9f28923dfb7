import { type AppError, assertNever, type ErrorCode, messageOf, systemCode } from '../../core/errors.ts';
import { brokenConnectionText } from '../../core/network/brokenConnection.ts';
import { networkFailureText } from '../../core/network/failureText.ts';
import { printableLine } from '../../core/text/printable.ts';
import { describeRefusal, isRefusedInput } from '../../jobs/service/refusal.ts';
import { AuthError, InsufficientCreditsError, NetworkError, RemoteError } from '../../remote/http/errors.ts';

export type ErrorAction = 'retry' | 'submitAgain' | 'signIn' | 'trust' | 'checkJobs' | 'openLog';

/** What a person is told about a failure, and the buttons below it, the most useful one first. */
export interface Explanation {
  readonly sentence: string;
  readonly actions: readonly ErrorAction[];
}

const CONNECTION: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'nothing answers at that address',
  ENOTFOUND: 'its name is not known; are you online?',
  EAI_AGAIN: 'its name could not be looked up; are you online?',
  EHOSTUNREACH: 'the network does not reach it',
  ENETUNREACH: 'the network does not reach it',
  ETIMEDOUT: 'the connection timed out',
};

/** What happened, what it means, and what can be done, for anything that was thrown. Text from outside is made safe to show. */
export function explain(error: unknown): Explanation {
  const { sentence, actions } = explainAs(error);
  return { sentence: printableLine(sentence), actions };
}

function explainAs(error: unknown): Explanation {
  if (isAppError(error)) return { sentence: error.message, actions: actionsFor(error.code) };
  if (error instanceof AuthError) {
    return {
      sentence: `The service did not accept the key: ${error.message}. Sign in again.`,
      actions: ['signIn', 'openLog'],
    };
  }
  if (error instanceof InsufficientCreditsError) {
    return {
      sentence: `Not sent: ${error.message}. A shorter time limit or a cheaper machine holds fewer credits.`,
      actions: ['retry', 'openLog'],
    };
  }
  if (error instanceof NetworkError) {
    return {
      sentence: `The service at ${error.host} did not answer in time. Try again in a moment.`,
      actions: ['retry', 'openLog'],
    };
  }
  if (error instanceof RemoteError && isRefusedInput(error)) {
    return { sentence: describeRefusal(error, 'the service'), actions: ['openLog', 'retry'] };
  }
  if (error instanceof RemoteError) {
    return { sentence: `The service refused: ${error.message.replace(/[.\s]+$/, '')}.`, actions: ['openLog', 'retry'] };
  }
  return explainSystem(error);
}

/** Chunks that are loaded later bring their own copy of the class. */
function isAppError(error: unknown): error is AppError {
  return error instanceof Error && error.name === 'AppError' && 'code' in error;
}

function explainSystem(error: unknown): Explanation {
  const code = systemCode(error);
  const networkText = networkFailureText(error);
  if (networkText !== undefined) {
    const isProxy = error instanceof Error && error.name === 'ProxyError';
    return { sentence: networkText, actions: isProxy ? ['retry', 'openLog'] : ['openLog'] };
  }
  const brokenText = brokenConnectionText(error);
  if (brokenText !== undefined) return { sentence: brokenText, actions: ['retry', 'openLog'] };
  const reason = code === undefined ? undefined : CONNECTION[code];
  if (reason !== undefined) {
    return { sentence: `The service cannot be reached: ${reason}.`, actions: ['retry', 'openLog'] };
  }
  return { sentence: `Farwharf met an unexpected problem: ${messageOf(error)}`, actions: ['openLog'] };
}

function actionsFor(code: ErrorCode): readonly ErrorAction[] {
  switch (code) {
    case 'not-signed-in':
      return ['signIn'];
    case 'untrusted':
      return ['trust'];
    case 'outcome-unknown':
      return ['checkJobs', 'submitAgain'];
    case 'unreachable':
    case 'conflict':
    case 'no-space':
      return ['retry', 'openLog'];
    case 'bad-input':
    case 'missing':
    case 'no-credits':
      return [];
    case 'corrupt':
    case 'limit':
    case 'permission':
    case 'refused':
      return ['openLog'];
    default:
      return assertNever(code);
  }
}
