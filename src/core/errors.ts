import { withoutUserinfo } from './redact.ts';

/**
 * What went wrong, for programs. The wire's own failures (`AuthError`, `NetworkError`, ...) live in `remote/http/errors.ts`.
 */
export type ErrorCode =
  | 'bad-input' // what the person asked for cannot be done as asked
  | 'conflict' // somebody else changed or holds it
  | 'corrupt' // data on disk or on the wire is not what it says it is
  | 'limit' // a size, count or time limit was reached
  | 'missing' // a file, job or program is not there
  | 'no-credits' // the account cannot pay for the job
  | 'no-space' // the disk is full
  | 'not-signed-in' // there is no key for this host
  | 'outcome-unknown' // the request was sent and the answer was lost
  | 'permission' // the operating system said no
  | 'refused' // not done because it would be unsafe
  | 'unreachable' // the service did not answer
  | 'untrusted'; // the workspace is in restricted mode

/**
 * The one error class of the project's own failures.
 *
 * `message` is a sentence for a person: what happened, what it means, what to do next. `cause` is for the log. Passwords in
 * addresses are taken out of it here, since most messages name what they are about.
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

/** The system's code of a failed call (`ENOENT`, `ECONNREFUSED`), or undefined where there is none. */
export function systemCode(error: unknown): string | undefined {
  if (!(error instanceof Error) || !('code' in error)) return undefined;
  return typeof error.code === 'string' ? error.code : undefined;
}

/** Text of anything that was thrown. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Closes a `switch` over a union: the compiler refuses a case that was forgotten. */
export function assertNever(value: never): never {
  throw new Error(`Unexpected value: ${JSON.stringify(value)}`);
}
