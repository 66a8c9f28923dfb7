import { AppError } from '../../core/errors.ts';

// The specification's section 8, in seconds.
const CONNECT_TIMEOUT = 10;
// Of an answer in all, unless twice the silence is longer.
const TOTAL_TIMEOUT = 120;

export interface RequestOptions {
  /**
   * Seconds: one number for both, or each on its own. `read` is the silence between bytes; `total` is the time for a whole answer,
   * counted from the end of the request: 120, or twice `read` where that is more. Uploads, event streams and downloads take as long
   * as they take.
   */
  readonly timeout?: number | { readonly connect?: number; readonly read?: number; readonly total?: number };
  readonly signal?: AbortSignal;
}

/** How long a call may take, from its options and the longest silence unless they name one. @throws AppError `bad-input` for no time at all. */
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
