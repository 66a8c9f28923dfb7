import type { Endpoint } from './providers.ts';

/** The URL of a path at an endpoint, with the endpoint's query. */
export function requestUrl({ baseUrl, query }: Pick<Endpoint, 'baseUrl' | 'query'>, path = ''): string {
  const search = new URLSearchParams(query).toString();
  return `${baseUrl}${path}${search === '' ? '' : `?${search}`}`;
}

/** The headers with a key. */
export function keyHeaders(
  { keyHeader }: Pick<Endpoint, 'keyHeader'>,
  key: string | undefined,
): Readonly<Record<string, string>> {
  if (key === undefined) return {};
  return keyHeader === undefined ? { Authorization: `Bearer ${key}` } : { [keyHeader]: key };
}
