import { systemCode } from '../errors.ts';

const BROKEN = /^(?:ECONNRESET|EPIPE|ERR_STREAM_PREMATURE_CLOSE)$/;
const SECURE = /^(?:EPROTO$|ERR_SSL_)/;
/** Errors of Node's HTTP parser: the response is damaged or not HTTP. */
const NOT_HTTP = /^HPE_/;
const REMEDY = 'Check the network and try again.';

/** The message for a connection that failed while in use, with what to do; undefined for any other failure. */
export function brokenConnectionText(error: unknown, host = 'the service'): string | undefined {
  const code = systemCode(error) ?? '';
  if (BROKEN.test(code)) return `The connection to ${host} broke off. ${REMEDY}`;
  if (SECURE.test(code)) return `The encrypted connection to ${host} failed${reasonOf(error)}. ${REMEDY}`;
  if (NOT_HTTP.test(code)) return `The response from ${host} is damaged, or not HTTP. ${REMEDY}`;
  return undefined;
}

/** OpenSSL's reason, without the source locations in its message. */
function reasonOf(error: unknown): string {
  return error instanceof Error && 'reason' in error && typeof error.reason === 'string' ? ` (${error.reason})` : '';
}
