import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Scratch, Service } from '../commandLine.ts';
import { type CertificateFiles, makeAuthority, makeCertificate } from './certificate.ts';

/** A name that no name server knows: only a proxy can lead to it. */
export const REMOTE_NAME = 'jobs.farwharf.test';

export interface RemoteService {
  /** `https://jobs.farwharf.test:<port>`. */
  readonly url: string;
  readonly key: string;
  /** What makes the command use it, without a proxy and without its authority. */
  readonly env: Readonly<Record<string, string>>;
  readonly authority: CertificateFiles;
  /** Where it really listens. */
  readonly place: { readonly host: string; readonly port: number };
  readonly service: Service;
}

/** A service that seems to be on another machine: it speaks TLS, by a private authority's certificate for another name. */
export async function serveRemotely(scratch: Scratch): Promise<RemoteService> {
  const folder = await scratch.folder('tls', {});
  const authority = makeAuthority(folder, 'company');
  const tls = makeCertificate(folder, 'service', { host: REMOTE_NAME, authority });
  const config = join(scratch.root, 'remote-service.json');
  await writeFile(config, JSON.stringify({ tls }));
  const service = await scratch.serve(['--config', config]);
  const port = Number(new URL(service.url).port);
  const url = `https://${REMOTE_NAME}:${port}`;
  const env = { FARWHARF_REMOTE_HOST: url, FARWHARF_API_KEY: service.key };
  return { url, key: service.key, env, authority, place: { host: '127.0.0.1', port }, service };
}
