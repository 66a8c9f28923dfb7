import { execFileSync } from 'node:child_process';
import { join } from 'node:path';

export interface CertificateFiles {
  readonly cert: string;
  readonly key: string;
}

/** Why no certificate can be made here; undefined where one can. */
export function opensslIsMissing(): string | undefined {
  try {
    execFileSync('openssl', ['version'], { stdio: 'ignore' });
    return undefined;
  } catch {
    return 'NO OPENSSL: certificates cannot be made here';
  }
}

interface CertificateOptions {
  readonly days?: number;
  readonly host?: string;
  /** Who signs it; by default it is self-signed. */
  readonly authority?: CertificateFiles;
}

/** Makes a certificate for a host and 127.0.0.1; one that has expired where `days` is zero. */
export function makeCertificate(
  folder: string,
  name: string,
  { days = 2, host = 'localhost', authority }: CertificateOptions = {},
): CertificateFiles {
  const { cert, key, request } = filesOf(folder, name);
  const names = ['-addext', `subjectAltName=DNS:${host},IP:127.0.0.1`];
  const curve = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
  run('req', ...curve, '-subj', `/CN=${name}`, ...names, '-keyout', key, '-out', request);
  const validity = ['-days', String(days), '-copy_extensions', 'copy'];
  const signer =
    authority === undefined ? ['-signkey', key] : ['-CA', authority.cert, '-CAkey', authority.key, '-CAcreateserial'];
  run('x509', '-req', '-in', request, ...signer, ...validity, '-out', cert);
  return { cert, key };
}

/** Makes the certificate of a private authority, as companies have one. */
export function makeAuthority(folder: string, name: string): CertificateFiles {
  const { cert, key } = filesOf(folder, name);
  const curve = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
  const rights = ['-addext', 'keyUsage=critical,keyCertSign,cRLSign'];
  run('req', '-x509', ...curve, ...rights, '-subj', `/CN=${name}`, '-days', '2', '-keyout', key, '-out', cert);
  return { cert, key };
}

function filesOf(folder: string, name: string): CertificateFiles & { readonly request: string } {
  const file = (ending: string): string => join(folder, `${name}.${ending}`);
  return { cert: file('crt'), key: file('key'), request: file('csr') };
}

function run(...args: readonly string[]): void {
  execFileSync('openssl', args, { stdio: 'ignore' });
}
