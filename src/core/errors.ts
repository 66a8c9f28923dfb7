import { withoutUserinfo } from './redact.ts';

/**
 * What went wrong, for programs. Failures of the protocol (`AuthError`, `NetworkError`, ...) are in `remote/http/errors.ts`.
 */
const ERROR_CODES = [
  'bad-input', // the request is invalid
  'conflict', // somebody else changed it or is using it
  'corrupt', // data on disk or from the network is damaged
  'limit', // a size, count or time limit was reached
  'missing', // a file, job or program does not exist
  'no-credits', // the account cannot pay for the job
  'no-folder', // a folder is needed, and none is open
  'no-space', // the disk is full
  'not-signed-in', // no valid key for this host
  'outcome-unknown', // the request was sent and the response was lost
  'permission', // the operating system denied access
  'refused', // not done because it would be unsafe
  'unreachable', // the service did not respond
  'untrusted', // the workspace is in Restricted Mode
] as const;

export type ErrorCode = (typeof ERROR_CODES)[number];

export function isErrorCode(code: unknown): code is ErrorCode {
  return ERROR_CODES.some((each) => each === code);
}

/**
 * The error class for the project's own failures.
 *
 * `message` is a sentence for the user: what happened, what it means, what to do next. `cause` is for the log. Passwords in URLs are
 * removed from the message here, because most messages name what they are about.
 */
export class AppError extends Error {
  override readonly name = 'AppError';
  readonly code: ErrorCode;

  constructor(code: ErrorCode, message: string, options?: { cause?: unknown }) {
    super(withoutUserinfo(message), options);
    this.code = code;
  }
}

/** Whether this is the rejection of an aborted operation rather than a failure. */
export function isAbort(error: unknown): boolean {
  return error instanceof Error && error.name === 'AbortError';
}

/** The system's code of a failed call (`ENOENT`, `ECONNREFUSED`), or undefined if there is none. */
export function systemCode(error: unknown): string | undefined {
  if (!(error instanceof Error) || !('code' in error)) return undefined;
  return typeof error.code === 'string' ? error.code : undefined;
}

/** Why a signal was aborted, for `reject`. */
export function abortReason({ reason }: AbortSignal): Error {
  return reason instanceof Error ? reason : new Error(String(reason));
}

/** The message of anything that was thrown. */
export function messageOf(error: unknown): string {
  if (error instanceof Error) return error.message;
  try {
    const text = String(error);
    return text === '[object Object]' ? JSON.stringify(error) : text;
  } catch {
    return '(a value that cannot be converted to text)'; // an object without a prototype, for example
  }
}

/** The default case of a `switch` over a union, by which the compiler detects missing cases. */
export function assertNever(value: never): never {
  throw new Error(`Unexpected value: ${JSON.stringify(value)}`);
}
