import { AppError, systemCode } from '../../core/errors.ts';
import { RemoteError } from '../../remote/http/errors.ts';
import { httpStatus } from './api.ts';
import { LOCAL_HOST } from './host.ts';

// Failures before a connection stands: not one byte of the request has left.
const BEFORE_CONNECTION: ReadonlySet<string> = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EAI_FAIL',
  'EAI_NODATA',
]);
// Of the certificate. Those of OpenSSL (`ERR_SSL_…`) come later too, when an answer is damaged under way.
const TLS_FAILURE = /^(?:CERT_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_|ERR_TLS_|HOSTNAME_MISMATCH|INVALID_CA)/;
// Written by a gateway on behalf of a service that may have taken the job, or by the service after it may have done so.
const UNCLEAR_STATUS: ReadonlySet<number> = new Set([500, 502, 504]);

/**
 * Whether a failed submit surely made no job: the service refused, no connection came about, or our own file could not be
 * read. Everything else is unclear, since an answer may have been lost after the job was taken.
 *
 * @param isFirst whether nothing was sent before: else that no connection came about says nothing of what was.
 */
export function isSurelyNotSent(error: unknown, { isFirst }: { readonly isFirst: boolean }): boolean {
  // Our own errors break the upload off: the archive changed, or the client was closed.
  if (error instanceof AppError) return true;
  const status = httpStatus(error);
  if (status !== undefined) return status >= 300 && !UNCLEAR_STATUS.has(status);
  if (!isFirst) return false;
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    const code = systemCode(cause) ?? '';
    if (BEFORE_CONNECTION.has(code) || TLS_FAILURE.test(code)) return true;
    if ('syscall' in cause && (cause.syscall === 'connect' || cause.syscall === 'getaddrinfo')) return true;
    if ('path' in cause) return true;
  }
  return false;
}

/** The error of a submit whose answer was lost, or not waited for. */
export function outcomeUnknown(
  host: string,
  { sentBytes, totalBytes, isCancelled }: { sentBytes: number; totalBytes: number; isCancelled: boolean },
  cause: unknown,
): AppError {
  const service = serviceAt(host);
  const part =
    sentBytes < totalBytes
      ? `${Math.floor((sentBytes / totalBytes) * 100)} % of the files had left, so the job most likely does not exist.`
      : 'All files had left, so the job may be running.';
  const sentence = `${whatHappened(service, isCancelled, cause)} ${part} Check at the service before you send it again.`;
  return new AppError('outcome-unknown', sentence, { cause });
}

/** Why a submission that was looked for and not found has failed. */
export function didNotArrive({ host }: { readonly host: string }): string {
  return `The upload did not reach ${serviceAt(host)} as a whole, so there is no job and nothing is charged. Submit it again.`;
}

function serviceAt(host: string): string {
  return host === LOCAL_HOST ? 'the job service of this machine' : host;
}

function whatHappened(service: string, isCancelled: boolean, cause: unknown): string {
  if (isCancelled) return `You stopped before ${service} answered.`;
  if (cause instanceof RemoteError) return `An answer of ${service} does not say whether the job was taken.`;
  return `The connection to ${service} was lost before it answered.`;
}
