import { systemCode } from '../errors.ts';

/** What the failure of a request means for its sender (RFC 9110, section 15). */
export type RequestFailure =
  | 'unreachable' // no response: no connection, or it was lost
  | 'untrusted' // the certificate is not trusted, so nothing was sent
  | 'unavailable' // 502, 503, 504, 507: no request is served at the moment
  | 'failed' // 408 and the other 5xx: this request was not served
  | 'busy' // 429
  | 'invalid' // 400, 422
  | 'unauthorized' // 401
  | 'unpaid' // 402
  | 'forbidden' // 403
  | 'missing' // 404
  | 'conflict' // 409
  | 'gone' // 410
  | 'lacking' // 424: something must be sent before
  | 'refused' // any other status; also a redirect, and a response that cannot be used
  | 'local' // our own AppError: this program gave up
  | 'unknown';

const BY_STATUS: ReadonlyMap<number, RequestFailure> = new Map([
  [400, 'invalid'],
  [401, 'unauthorized'],
  [402, 'unpaid'],
  [403, 'forbidden'],
  [404, 'missing'],
  [408, 'failed'],
  [409, 'conflict'],
  [410, 'gone'],
  [422, 'invalid'],
  [424, 'lacking'],
  [429, 'busy'],
  [502, 'unavailable'],
  [503, 'unavailable'],
  [504, 'unavailable'],
  [507, 'unavailable'],
]);
const SERVER_ERROR = 500;
// Errors that say that there is no response. Bundles that are loaded later contain their own copies of classes.
const UNREACHABLE_NAME = /^(?:NetworkError|ProxyError|MachineUnreachable)$/;
const UNREACHABLE_CODE =
  /^(?:ECONN|EHOST|ENET|ENOTFOUND|EAI_|ETIMEDOUT|EPIPE|EPROTO|ERR_TLS|ERR_SSL|ERR_STREAM_PREMATURE_CLOSE|HPE_|UND_ERR_)/;
const CERTIFICATE_CODE = /CERT|SELF_SIGNED|^UNABLE_TO_|HOSTNAME_MISMATCH|INVALID_CA/;
const PASSING: ReadonlySet<RequestFailure> = new Set(['unreachable', 'unavailable', 'failed', 'busy']);
// A network that wants a sign-in shows its own certificate.
const UNDECIDED: ReadonlySet<RequestFailure> = new Set(['untrusted', 'unknown']);

/** The HTTP status of a failed call; undefined if there was no response. */
export function httpStatus(error: unknown): number | undefined {
  return error instanceof Error && 'status' in error && typeof error.status === 'number' ? error.status : undefined;
}

export function classifyStatus(status: number): RequestFailure {
  return BY_STATUS.get(status) ?? (status >= SERVER_ERROR ? 'failed' : 'refused');
}

/** What the error of a request means, whichever layer threw it. */
export function classifyFailure(error: unknown): RequestFailure {
  const { name } = error instanceof Error ? error : { name: '' };
  const code = systemCode(error) ?? '';
  if (name === 'AppError') return code === 'unreachable' ? 'unreachable' : 'local';
  const status = httpStatus(error);
  if (status !== undefined) return classifyStatus(status);
  if (isUntrusted(error)) return 'untrusted';
  return UNREACHABLE_NAME.test(name) || UNREACHABLE_CODE.test(code) ? 'unreachable' : 'unknown';
}

/** Whether the same request may succeed later. */
export function isPassing(failure: RequestFailure): boolean {
  return PASSING.has(failure);
}

/** Whether the same request will fail again. What is neither passing nor final only its sender can judge. */
export function isFinal(failure: RequestFailure): boolean {
  return !PASSING.has(failure) && !UNDECIDED.has(failure);
}

/** Whether an error, or one of its causes, is about a certificate. */
function isUntrusted(error: unknown): boolean {
  for (let cause = error; cause instanceof Error && cause.name !== 'ProxyError'; cause = cause.cause)
    if (CERTIFICATE_CODE.test(systemCode(cause) ?? '')) return true;
  return false;
}
