import type { IncomingMessage, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { type Endpoint, keyHeaders, requestUrl } from '../../../agents/llm/providers.ts';
import { AppError } from '../../../core/errors.ts';
import { readBody } from './bridgeRequest.ts';

/** Where the path of the selected service starts at the bridge. */
export const SELECTED_PATH = '/selected/v1';
const ROUTE = '/chat/completions';
const HEADERS = ['content-type', 'retry-after'];

/** The service of the selected model. Its key stays in the editor. */
export interface SelectedService extends Partial<Pick<Endpoint, 'query' | 'keyHeader'>> {
  readonly baseUrl: string;
  readonly key: string | undefined;
  readonly fetch: typeof fetch;
}

/**
 * Passes a request of a flow on to the selected service, and the response back as it arrives.
 *
 * @throws AppError `missing` for any other path, `limit` for a body over 16 MB, and what `fetch` throws.
 */
export async function forwardToSelected(
  { baseUrl, query = {}, keyHeader, key, fetch }: SelectedService,
  request: IncomingMessage,
  response: ServerResponse,
  signal: AbortSignal,
): Promise<void> {
  if (request.method !== 'POST' || request.url !== SELECTED_PATH + ROUTE) {
    throw new AppError('missing', `The bridge has no ${request.method} ${request.url}.`);
  }
  const answer = await fetch(requestUrl({ baseUrl, query }, ROUTE), {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', ...keyHeaders({ keyHeader }, key) },
    body: await readBody(request),
    redirect: 'error', // a redirect could take the key elsewhere
    signal,
  });
  const headers = HEADERS.flatMap((name) => {
    const value = answer.headers.get(name);
    return value === null ? [] : [[name, value] as const];
  });
  response.writeHead(answer.status, Object.fromEntries(headers));
  if (answer.body === null) response.end();
  else await pipeline(Readable.fromWeb(answer.body), response, { signal });
}
