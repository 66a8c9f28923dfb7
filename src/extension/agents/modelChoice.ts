import * as l10n from '@vscode/l10n';
import { type Endpoint, resolveEndpoint } from '../../agents/llm/providers.ts';
import { AppError } from '../../core/errors.ts';
import { printableLine } from '../../core/text/printable.ts';
import { isLoopback } from '../../core/network/loopback.ts';

/** The provider name for the models that VS Code offers. */
export const EDITOR_PROVIDER = 'editor';

export interface ModelSettings {
  readonly provider: string;
  readonly name: string;
  readonly baseUrl: string;
}

/** The model in the user's settings. */
export type ModelChoice =
  | { readonly type: 'none' }
  | { readonly type: 'editor'; readonly id: string }
  | { readonly type: 'endpoint'; readonly endpoint: Endpoint };

/**
 * Reads the settings. A base URL overrides the provider, so that the key of a provider is never sent to another server.
 *
 * @throws AppError `bad-input` for an unknown provider or an invalid URL.
 */
export function readModelChoice({ provider, name, baseUrl }: ModelSettings): ModelChoice {
  const model = name.trim() || undefined;
  const address = baseUrl.trim();
  if (address !== '') return { type: 'endpoint', endpoint: resolveEndpoint({ baseUrl: address, model }) };
  if (provider === EDITOR_PROVIDER) return { type: 'editor', id: name };
  if (provider === '' && model === undefined) return { type: 'none' };
  return { type: 'endpoint', endpoint: resolveEndpoint({ provider: provider || undefined, model }) };
}

/** The endpoint of a provider; undefined for a cloud whose address the environment does not describe. */
export function endpointOf(options: {
  readonly provider: string;
  readonly model?: string | undefined;
}): Endpoint | undefined {
  try {
    return resolveEndpoint(options);
  } catch (error) {
    if (error instanceof AppError && error.code === 'bad-input') return undefined;
    throw error;
  }
}

/** The display name of an endpoint's host: `this machine (127.0.0.1:11434)`, `api.openai.com`. */
export function placeOf({ baseUrl }: Endpoint): string {
  const { host, hostname } = new URL(baseUrl);
  return isLoopback(hostname) ? l10n.t('this machine ({0})', host) : printableLine(host);
}

/** @throws AppError `refused` if the key would be sent unencrypted over a network. */
export function requireSafeForKey({ baseUrl }: Endpoint): void {
  const { protocol, hostname, host } = new URL(baseUrl);
  if (protocol === 'https:' || isLoopback(hostname)) return;
  throw new AppError(
    'refused',
    l10n.t('http://{0} would send your key unencrypted, so nothing was sent. Use https.', host),
  );
}
