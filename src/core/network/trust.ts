import { createSecureContext, getCACertificates, rootCertificates, type SecureContext } from 'node:tls';
import { systemCode } from '../errors.ts';

const UNKNOWN_AUTHORITY: ReadonlySet<string> = new Set([
  'CERT_UNTRUSTED',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
]);

/** Whether a connection failed because the certificate's authority is not trusted. */
export function isUnknownAuthority(error: unknown): boolean {
  return UNKNOWN_AUTHORITY.has(systemCode(error) ?? '');
}

let context: { readonly found: SecureContext | undefined } | undefined;

/**
 * A context that trusts Node's certificates, those in `NODE_EXTRA_CA_CERTS` and those of the operating system. Undefined if that adds
 * nothing to Node's own, or if a program has chosen its certificates (`--use-openssl-ca`, `setDefaultCACertificates`). Reading the
 * system's store takes 30 to 150 ms, and seconds on some Macs, so it is read once, and only for an untrusted certificate.
 */
export function systemTrust(): SecureContext | undefined {
  context ??= { found: readSystemTrust() };
  return context.found;
}

function readSystemTrust(): SecureContext | undefined {
  const bundled = getCACertificates('default');
  const isKnown = new Set(bundled.map(withoutSpace));
  if (!rootCertificates.every((certificate) => isKnown.has(withoutSpace(certificate)))) return undefined;
  const added = new Map<string, string>();
  for (const certificate of systemCertificates()) {
    const id = withoutSpace(certificate);
    if (!isKnown.has(id)) added.set(id, certificate);
  }
  return added.size === 0 ? undefined : createSecureContext({ ca: [...bundled, ...added.values()] });
}

/** Empty if the store cannot be read; the connection then fails for its original reason. */
function systemCertificates(): readonly string[] {
  try {
    return getCACertificates('system');
  } catch {
    return [];
  }
}

/** The same certificate may have different line breaks, depending on the reader. */
function withoutSpace(pem: string): string {
  return pem.replaceAll(/\s/g, '');
}
