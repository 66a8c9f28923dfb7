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

/** Makes a self-signed certificate for a host and 127.0.0.1; one that has expired where `days` is below zero. */
export function makeCertificate(folder: string, name: string, { days = 2, host = 'localhost' } = {}): CertificateFiles {
  const [cert, key, request] = ['crt', 'key', 'csr'].map((ending) => join(folder, `${name}.${ending}`)) as [
    string,
    string,
    string,
  ];
  const names = ['-addext', `subjectAltName=DNS:${host},IP:127.0.0.1`];
  const curve = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
  run('req', ...curve, '-subj', `/CN=${name}`, ...names, '-keyout', key, '-out', request);
  const validity = ['-days', String(days), '-copy_extensions', 'copy'];
  run('x509', '-req', '-in', request, '-signkey', key, ...validity, '-out', cert);
  return { cert, key };
}

function run(...args: readonly string[]): void {
  execFileSync('openssl', args, { stdio: 'ignore' });
}
