import { AppError, type ErrorCode, isAbort, messageOf, systemCode } from '../../core/errors.ts';
import { brokenConnectionText } from '../../core/network/brokenConnection.ts';
import { networkFailureText } from '../../core/network/failureText.ts';
import { printableLine } from '../../core/text/printable.ts';
import { httpStatus } from '../../jobs/service/api.ts';
import { describeRefusal, isRefusedInput } from '../../jobs/service/refusal.ts';

/** The exit status of the command, for scripts. */
export const EXIT = {
  done: 0,
  failed: 1,
  badUse: 2,
  notAuthorised: 3,
  noCredits: 4,
  network: 5,
  /** Ended by Ctrl+C, as shells count it: 128 + SIGINT. After another signal the command itself adds that one's number. */
  interrupted: 130,
} as const;

const EXIT_OF_CODE: Partial<Record<ErrorCode, number>> = {
  'bad-input': EXIT.badUse,
  missing: EXIT.badUse,
  'no-credits': EXIT.noCredits,
  'not-signed-in': EXIT.notAuthorised,
  'outcome-unknown': EXIT.network,
  unreachable: EXIT.network,
};

const EXIT_OF_STATUS: Readonly<Record<number, number>> = {
  400: EXIT.badUse,
  401: EXIT.notAuthorised,
  402: EXIT.noCredits,
  403: EXIT.notAuthorised,
  404: EXIT.badUse,
  422: EXIT.badUse,
};

/** The remedy for refusals that a service words itself. */
const ADVICE_OF_EXIT: Readonly<Record<number, string>> = {
  [EXIT.notAuthorised]: 'Set FARWHARF_API_KEY to a valid key for this service.',
  [EXIT.noCredits]: 'A shorter --max-runtime or a cheaper --machine-class holds fewer credits.',
};

/** Codes of the system and of TLS for a service that was not reached. */
const NETWORK_CODE = /^(ECONN|EHOST|ENET|ENOTFOUND|EAI_|ETIMEDOUT|EPIPE|EPROTO|ERR_TLS|ERR_SSL)/;

export interface Failure {
  readonly exit: number;
  /** For programs: our own code, the system's, or `http-<status>`. */
  readonly code: string;
  /** For people: one sentence, free of control characters. */
  readonly message: string;
}

/** What an error means to the person and to the script that ran the command. */
export function describeFailure(error: unknown, host?: string): Failure {
  const message = printableLine(messageOf(error));
  if (isAbort(error)) return { exit: EXIT.interrupted, code: 'interrupted', message: 'Stopped.' };
  if (error instanceof AppError) return { exit: EXIT_OF_CODE[error.code] ?? EXIT.failed, code: error.code, message };
  const status = httpStatus(error);
  if (status !== undefined) {
    const exit = exitOfStatus(status);
    if (isRefusedInput(error)) {
      return { exit, code: `http-${status}`, message: printableLine(describeRefusal(error, nameOf(host))) };
    }
    return { exit, code: `http-${status}`, message: withAdvice(message, ADVICE_OF_EXIT[exit]) };
  }
  const code = systemCode(error);
  const networkText = networkFailureText(error, host) ?? brokenConnectionText(error, host);
  if (networkText !== undefined) {
    return { exit: EXIT.network, code: code ?? 'unreachable', message: printableLine(networkText) };
  }
  if (error instanceof Error && error.name === 'NetworkError') {
    return {
      exit: EXIT.network,
      code: 'unreachable',
      message: withAdvice(message, 'Check the network and try again.'),
    };
  }
  if (code !== undefined && NETWORK_CODE.test(code)) {
    return {
      exit: EXIT.network,
      code,
      message: `Could not reach the service at ${host ?? 'that address'}: ${message}`,
    };
  }
  return { exit: EXIT.failed, code: code ?? 'failed', message };
}

function exitOfStatus(status: number): number {
  return EXIT_OF_STATUS[status] ?? (status >= 500 ? EXIT.network : EXIT.failed);
}

function withAdvice(message: string, advice: string | undefined): string {
  return advice === undefined ? message : `${message.replace(/[.\s]+$/, '')}. ${advice}`;
}

function nameOf(host: string | undefined): string {
  return (host === undefined ? undefined : URL.parse(host)?.host) ?? 'the service';
}
