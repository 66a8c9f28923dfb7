import { randomBytes, timingSafeEqual } from 'node:crypto';
import { get } from 'node:http';
import { text } from 'node:stream/consumers';
import * as z from 'zod';
import { openSocketAddress } from '../core/files/socketAddress.ts';
import { proveKey } from './http/access/keyProof.ts';
import type { ServiceState } from './stateFile.ts';

const PROOF_TIMEOUT_MS = 2_000;

const health = z.object({ proof: z.string() });

/**
 * Whether the server at the address in a state file knows the key, which is not sent: after a crash, another program may have the port
 * of a service whose state file still exists.
 */
export async function knowsKey({ url, key, socket }: Pick<ServiceState, 'url' | 'key' | 'socket'>): Promise<boolean> {
  const nonce = randomBytes(24).toString('base64url');
  const proof = Buffer.from((await askForProof(url, socket, nonce)) ?? '');
  const expected = Buffer.from(proveKey(key, nonce));
  return proof.length === expected.length && timingSafeEqual(proof, expected);
}

async function askForProof(url: string, socket: string | undefined, nonce: string): Promise<string | undefined> {
  try {
    using address = socket === undefined ? undefined : openSocketAddress(socket);
    const by = address === undefined ? {} : { socketPath: address.path };
    const body = await new Promise<string>((resolve, reject) => {
      const signal = AbortSignal.timeout(PROOF_TIMEOUT_MS);
      get(`${url}/healthz?nonce=${nonce}`, { ...by, agent: false, signal }, (response) => {
        text(response).then(resolve, reject);
      }).once('error', reject);
    });
    return health.parse(JSON.parse(body)).proof;
  } catch {
    return undefined;
  }
}
