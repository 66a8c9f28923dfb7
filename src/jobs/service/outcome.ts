import { AppError, systemCode } from '../../core/errors.ts';
import { RemoteError } from '../../remote/http/remoteErrors.ts';
import { httpStatus } from '../../core/network/classifyFailure.ts';
import { LOCAL_HOST } from './host.ts';

// Failures before a connection exists, so that no byte of the request was sent.
const BEFORE_CONNECTION: ReadonlySet<string> = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EAI_FAIL',
  'EAI_NODATA',
]);
// Certificate errors. OpenSSL's errors (`ERR_SSL_…`) can also occur later, when a response is damaged in transit.
const TLS_FAILURE = /^(?:CERT_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_|ERR_TLS_|HOSTNAME_MISMATCH|INVALID_CA)/;
// Sent by a gateway for a service that may have accepted the job, or by the service after it may have done so.
const UNCLEAR_STATUS: ReadonlySet<number> = new Set([500, 502, 504]);

/**
 * Whether a failed submit certainly created no job: the service refused it, there was no connection, or our own file could not be read.
 * Everything else is unclear, because the response may have been lost after the job was accepted.
 *
 * @param isFirst whether nothing was sent before. Otherwise a failed connection says nothing about the earlier request.
 */
export function isSurelyNotSent(error: unknown, { isFirst }: { readonly isFirst: boolean }): boolean {
  // Our own errors end the upload early: the archive changed, or the client was closed.
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

/** The error of a submit whose response was lost, or not awaited. */
export function outcomeUnknown(
  host: string,
  { sentBytes, totalBytes, isCancelled }: { sentBytes: number; totalBytes: number; isCancelled: boolean },
  cause: unknown,
): AppError {
  const service = serviceAt(host);
  const part =
    sentBytes < totalBytes
      ? `${Math.floor((sentBytes / totalBytes) * 100)} % of the files were sent, so the job most likely does not exist.`
      : 'All files were sent, so the job may be running.';
  const sentence = `${whatHappened(service, isCancelled, cause)} ${part} Check with the service before you send it again.`;
  return new AppError('outcome-unknown', sentence, { cause });
}

/** Why a submission that the service does not have has failed. */
export function didNotArrive({ host }: { readonly host: string }): string {
  return `The upload was not completed, so ${serviceAt(host)} has no job and charges nothing. Submit it again.`;
}

function serviceAt(host: string): string {
  return host === LOCAL_HOST ? 'the job service on this machine' : host;
}

function whatHappened(service: string, isCancelled: boolean, cause: unknown): string {
  if (isCancelled) return `You stopped before ${service} responded.`;
  if (cause instanceof RemoteError) return `The response of ${service} does not say whether the job was accepted.`;
  return `The connection to ${service} was lost before it responded.`;
}
