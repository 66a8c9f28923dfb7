import { messageOf, systemCode } from '../errors.ts';
import { isUnknownAuthority } from './trust.ts';

const CERTIFICATE = /CERT|SELF_SIGNED|^UNABLE_TO_|HOSTNAME_MISMATCH|INVALID_CA/;
const DATES = /^CERT_(?:HAS_EXPIRED|NOT_YET_VALID)$/;
const OTHER_NAME = /ALTNAME|HOSTNAME_MISMATCH/;

/**
 * What a person is told of a proxy that did not connect, or of a certificate that is not trusted, wherever in the causes of an error
 * it is; undefined for any other failure. `host` is the one that was asked.
 */
export function networkFailureText(error: unknown, host?: string): string | undefined {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    // Bundles that are loaded later have their own copy of the class.
    if (cause.name === 'ProxyError') return cause.message;
    if (CERTIFICATE.test(systemCode(cause) ?? '')) return certificateText(cause, host);
  }
  return undefined;
}

function certificateText(error: Error, host: string | undefined): string {
  const whose = host === undefined ? "The service's certificate" : `The certificate of ${host}`;
  const [what = ''] = messageOf(error).split(';'); // behind it Node advises how to run Node
  return `${whose} is not trusted (${what}), so nothing was sent. ${adviceFor(error)}`;
}

function adviceFor(error: Error): string {
  const code = systemCode(error) ?? '';
  if (isUnknownAuthority(error)) {
    return "If your company or the service has a certificate authority of its own, add that authority's certificate to the operating system's store, or to the file that NODE_EXTRA_CA_CERTS names, and start again. Otherwise ask who runs the service.";
  }
  if (DATES.test(code)) return "Check this computer's clock, or ask who runs the service to renew its certificate.";
  if (OTHER_NAME.test(code)) return 'Check the address, or ask who runs the service.';
  return 'Ask who runs the service.';
}
