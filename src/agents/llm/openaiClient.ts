import type { ClientOptions } from 'openai';
import { createNetworkFetch } from '../../core/network/networkFetch.ts';
import { type Endpoint, keyHeaders } from './providers.ts';

/** The options of the `openai` package for an endpoint; `fetch` replaces our own. */
export function clientOptions(
  endpoint: Endpoint,
  key: string | undefined,
  fetch: typeof globalThis.fetch = createNetworkFetch(),
): ClientOptions {
  const isOpenAI = endpoint.provider === 'openai';
  return {
    baseURL: endpoint.baseUrl,
    apiKey: key ?? 'none',
    fetch,
    // Otherwise taken from OPENAI_ORG_ID, OPENAI_PROJECT_ID and OPENAI_CUSTOM_HEADERS, and sent to other providers too.
    organization: isOpenAI ? undefined : null,
    project: isOpenAI ? undefined : null,
    defaultHeaders: { ...(isOpenAI ? {} : customHeadersRemoved()), Authorization: null, ...keyHeaders(endpoint, key) },
    defaultQuery: { ...endpoint.query },
    maxRetries: 0, // the package's own retries can sleep for hours if the service says so, and are not traced
    logLevel: 'off',
    fetchOptions: { redirect: 'error' }, // a redirect could take the key elsewhere
  };
}

/** Removes each header of OPENAI_CUSTOM_HEADERS, which the package adds to every request: one `name: value` a line. */
function customHeadersRemoved(): Record<string, null> {
  const lines = (process.env['OPENAI_CUSTOM_HEADERS'] ?? '').split('\n').filter((line) => line.includes(':'));
  return Object.fromEntries(lines.map((line) => [line.slice(0, line.indexOf(':')).trim(), null]));
}
