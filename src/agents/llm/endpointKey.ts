import { runHost } from '../run/runHost.ts';
import type { Endpoint } from './providers.ts';

/** A key, or a function that returns a token that expires; it is called again when the service refuses the last one. */
export type ModelApiKey = string | (() => string | Promise<string>);

/** The key for a service, and how to get another when it has expired. */
export interface EndpointKey {
  readonly key: string | undefined;
  readonly renewKey?: (() => Promise<string | undefined>) | undefined;
}

/**
 * The key for a service: the explicit one, else that of the variable, else for `vertex` a token of the gcloud program, else the host program's key
 * for that variable. Without a key if there is none.
 */
export async function endpointKey(
  apiKey: ModelApiKey | undefined,
  { keyVariable, provider }: Pick<Endpoint, 'keyVariable' | 'provider'>,
): Promise<EndpointKey> {
  if (typeof apiKey === 'function') {
    const renewKey = async (): Promise<string> => apiKey();
    return { key: await renewKey(), renewKey };
  }
  if (apiKey) return { key: apiKey };
  const variableKey = keyVariable === undefined ? undefined : process.env[keyVariable];
  if (variableKey) return { key: variableKey };
  if (provider === 'vertex') {
    const { googleToken } = await import('./googleToken.ts'); // starting programs is not loaded with the library
    const token = await googleToken();
    if (token !== undefined) return { key: token, renewKey: googleToken };
  }
  return { key: (keyVariable && (await runHost()?.modelKey?.(keyVariable))) || undefined };
}
