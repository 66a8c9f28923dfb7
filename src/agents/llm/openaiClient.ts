import type { ClientOptions } from 'openai';
import { createNetworkFetch } from '../../core/network/networkFetch.ts';
import { keyHeaders } from './endpointRequest.ts';
import type { Endpoint } from './providers.ts';

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
    // Otherwise taken from OPENAI_ORG_ID and OPENAI_PROJECT_ID, and sent to other providers too.
    organization: isOpenAI ? undefined : null,
    project: isOpenAI ? undefined : null,
    defaultHeaders: { Authorization: null, ...keyHeaders(endpoint, key) },
    defaultQuery: { ...endpoint.query },
    maxRetries: 0, // its own retries can sleep for hours if the service says so, and are not in the trace
    logLevel: 'off',
    fetchOptions: { redirect: 'error' }, // a redirect could take the key elsewhere
  };
}
