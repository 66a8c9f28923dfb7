import { X509Certificate } from 'node:crypto';
import { statSync } from 'node:fs';
import type { Server } from 'node:https';
import { createSecureContext, type SecureContextOptions } from 'node:tls';
import { AppError, messageOf, systemCode } from '../../core/errors.ts';
import type { Logger } from '../../core/log.ts';
import { repeat } from '../../core/processes/repeat.ts';
import { readNamedBytesSync } from '../../core/files/namedFile.ts';
import type { TlsSettings } from '../config/configSections.ts';

// RFC 8996 forbids earlier versions.
const MIN_VERSION = 'TLSv1.2';
const WATCH_MS = 5_000;
const WARN_BEFORE_MS = 14 * 24 * 60 * 60_000;

export interface Certificate {
  readonly context: SecureContextOptions;
  /** Milliseconds since 1970. */
  readonly expiresAt: number;
  /** The certificate's first host name. */
  readonly name: string | undefined;
}

/**
 * Reads a certificate and its key, and checks that they belong together and are valid now.
 *
 * @throws AppError `missing` or `bad-input` that names the file.
 */
export function readCertificate({ cert: certPath, key: keyPath }: TlsSettings): Certificate {
  const [cert, key] = [readPem(certPath), readPem(keyPath)];
  try {
    const { validToDate, validFromDate, subjectAltName } = new X509Certificate(cert);
    if (validToDate.getTime() <= Date.now()) throw new Error(`it expired on ${validToDate.toISOString()}`);
    if (validFromDate.getTime() > Date.now()) throw new Error(`it is valid from ${validFromDate.toISOString()}`);
    const context = { cert, key, minVersion: MIN_VERSION } as const;
    createSecureContext(context);
    const name = /\bDNS:([\w.-]+)/.exec(subjectAltName ?? '')?.[1];
    return { context, expiresAt: validToDate.getTime(), name };
  } catch (cause) {
    const message = `The certificate ${certPath} cannot be used with the key ${keyPath}: ${messageOf(cause)}.`;
    throw new AppError('bad-input', message, { cause });
  }
}

/** The certificate of a running server. It follows its files, so that a renewal needs no restart. */
export class ServerCertificate {
  readonly #settings: TlsSettings;
  readonly #server: Server;
  readonly #log: Logger;
  #current: Certificate;
  #seen: string;

  constructor(settings: TlsSettings, { server, first, log }: { server: Server; first: Certificate; log: Logger }) {
    this.#settings = settings;
    this.#server = server;
    this.#log = log;
    this.#current = first;
    this.#seen = stateOf(settings);
    this.#warnBeforeEnd();
  }

  get expiresAt(): number {
    return this.#current.expiresAt;
  }

  /** Reads the files again. If they are not valid, this is logged, and the previous certificate stays in use. */
  reload(): void {
    this.#seen = stateOf(this.#settings);
    try {
      const next = readCertificate(this.#settings);
      this.#server.setSecureContext(next.context);
      this.#current = next;
      this.#log.info('certificate loaded', { expiresAt: new Date(next.expiresAt).toISOString() });
      this.#warnBeforeEnd();
    } catch (error) {
      this.#log.error('the new certificate is not valid, so the previous one stays in use', {
        reason: messageOf(error),
      });
    }
  }

  /**
   * Polls the files until the signal aborts. They are not watched, because certbot moves links, and network file systems do not
   * report changes.
   */
  follow(signal: AbortSignal, intervalMs = WATCH_MS): Promise<void> {
    const check = (): void => void (stateOf(this.#settings) !== this.#seen && this.reload());
    return repeat(check, intervalMs, signal);
  }

  #warnBeforeEnd(): void {
    const { expiresAt } = this.#current;
    if (expiresAt - Date.now() > WARN_BEFORE_MS) return;
    this.#log.warn('the certificate expires soon', { expiresAt: new Date(expiresAt).toISOString() });
  }
}

function readPem(path: string): Buffer {
  return readNamedBytesSync(path, { name: `The file ${path} of [tls]` });
}

/** Changes whenever one of the files, a link to it, or the error of reading it changes. */
function stateOf({ cert, key }: TlsSettings): string {
  return [cert, key]
    .map((path) => {
      try {
        const { ino, size, mtimeMs } = statSync(path);
        return `${ino}:${size}:${mtimeMs}`;
      } catch (error) {
        return systemCode(error);
      }
    })
    .join(' ');
}
