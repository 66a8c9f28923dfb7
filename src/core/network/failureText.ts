import { messageOf, systemCode } from '../errors.ts';
import { withoutHost } from './namedHost.ts';
import { isUnknownAuthority } from './trust.ts';

const CERTIFICATE = /CERT|SELF_SIGNED|^UNABLE_TO_|HOSTNAME_MISMATCH|INVALID_CA/;
const DATES = /^CERT_(?:HAS_EXPIRED|NOT_YET_VALID)$/;
const OTHER_NAME = /ALTNAME|HOSTNAME_MISMATCH/;
const BROKEN = /^(?:ECONNRESET|EPIPE|ERR_STREAM_PREMATURE_CLOSE)$/;
const SECURE = /^(?:EPROTO$|ERR_SSL_)/;

/** Errors of Node's HTTP parser: the response is damaged or not HTTP. */
const NOT_HTTP = /^HPE_/;
const REMEDY = 'Check the network and try again.';

/** Describes a proxy that did not connect or an untrusted certificate, anywhere in the causes of an error; undefined for any other failure. */
export function networkFailureText(error: unknown, host = 'the service'): string | undefined {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    // Bundles that are loaded later contain their own copy of the class.
    if (cause.name === 'ProxyError') return cause.message;
    if (CERTIFICATE.test(systemCode(cause) ?? '')) return certificateText(cause, host);
  }
  return undefined;
}

function certificateText(error: Error, host: string): string {
  const [what = ''] = withoutHost(messageOf(error), host).split(';'); // the rest is Node's advice on how to start Node
  return `The certificate of ${host} is not trusted (${what}), so nothing was sent. ${adviceFor(error)}`;
}

function adviceFor(error: Error): string {
  const code = systemCode(error) ?? '';
  if (isUnknownAuthority(error)) {
    return "If your company or the service has its own certificate authority, add that authority's certificate to the operating system's store, or to the file in NODE_EXTRA_CA_CERTS, and start again. Otherwise ask the operator of the service.";
  }
  if (DATES.test(code))
    return "Check this computer's clock, or ask the operator of the service to renew its certificate.";
  if (OTHER_NAME.test(code)) return 'Check the address, or ask the operator of the service.';
  return 'Ask the operator of the service.';
}

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
