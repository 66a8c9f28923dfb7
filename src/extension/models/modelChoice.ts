import { type Endpoint, resolveEndpoint } from '../../agents/llm/providers.ts';
import { AppError } from '../../core/errors.ts';
import { printableLine } from '../../core/text/printable.ts';
import { isLoopback } from '../../core/network/loopback.ts';

/** The provider that stands for the models that VS Code itself offers. */
export const EDITOR_PROVIDER = 'editor';

export interface ModelSettings {
  readonly provider: string;
  readonly name: string;
  readonly baseUrl: string;
}

/** The model that the user's settings name. */
export type ModelChoice =
  | { readonly type: 'none' }
  | { readonly type: 'editor'; readonly id: string }
  | { readonly type: 'endpoint'; readonly endpoint: Endpoint };

/**
 * Reads the settings. An address decides alone what is behind it, so that the key of a provider never goes to an address that is
 * not the provider's.
 *
 * @throws AppError `bad-input` for an unknown provider, or an address that is none.
 */
export function readModelChoice({ provider, name, baseUrl }: ModelSettings): ModelChoice {
  const model = name.trim() || undefined;
  const address = baseUrl.trim();
  if (address !== '') return { type: 'endpoint', endpoint: resolveEndpoint({ baseUrl: address, model }) };
  if (provider === EDITOR_PROVIDER) return { type: 'editor', id: name };
  if (provider === '' && model === undefined) return { type: 'none' };
  return { type: 'endpoint', endpoint: resolveEndpoint({ provider: provider || undefined, model }) };
}

/** Where an endpoint is, as people call it: `this machine (127.0.0.1:11434)`, `api.openai.com`. */
export function placeOf({ baseUrl }: Endpoint): string {
  const { host, hostname } = new URL(baseUrl);
  return isLoopback(hostname) ? `this machine (${host})` : printableLine(host);
}

/** @throws AppError `refused` when a key would go over the network where everyone can read it. */
export function requireSafeForKey({ baseUrl }: Endpoint): void {
  const { protocol, hostname, host } = new URL(baseUrl);
  if (protocol === 'https:' || isLoopback(hostname)) return;
  throw new AppError('refused', `http://${host} would send your key unencrypted, so nothing was sent. Use https.`);
}
