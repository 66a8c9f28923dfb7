import { AppError } from '../../core/errors.ts';

// In seconds (specification, section 8).
const CONNECT_TIMEOUT = 10;
// For a complete response, unless twice the read timeout is longer.
const TOTAL_TIMEOUT = 120;

export interface RequestOptions {
  /**
   * Seconds: one number for `connect` and `read`, or each separately. `read` is the time without a byte. `total` is the time for a
   * complete response after the request was sent: 120, or twice `read` if that is more. It does not limit uploads, event streams and
   * downloads.
   */
  readonly timeout?: number | { readonly connect?: number; readonly read?: number; readonly total?: number };
  readonly signal?: AbortSignal;
}

export interface TransferOptions extends RequestOptions {
  /** Called with the bytes of the file that were transferred so far, and their total if known. */
  onProgress?(bytes: number, total?: number): void;
}

/** The time limits and the signal of a call. `defaultRead` is its read timeout in seconds. @throws AppError `bad-input` for a limit that is not above zero. */
export function limits(options: RequestOptions | undefined, defaultRead: number) {
  const { timeout, signal } = options ?? {};
  const {
    connect = CONNECT_TIMEOUT,
    read = defaultRead,
    total = Math.max(TOTAL_TIMEOUT, 2 * read),
  } = typeof timeout === 'number' ? { connect: timeout, read: timeout, total: undefined } : (timeout ?? {});
  if (!(connect > 0 && read > 0 && total > 0))
    throw new AppError('bad-input', 'A timeout must be a number of seconds above zero.');
  return { connectMs: connect * 1000, readMs: read * 1000, totalMs: total * 1000, signal };
}
