import { isLoopback } from './loopback.ts';

/**
 * The longest time after its issue that an access token is accepted, in milliseconds, however long its provider would let it live: what
 * the provider decides, such as that a person may no longer sign in, takes effect after this time.
 */
export const MAX_TOKEN_AGE_MS = 15 * 60_000;

/**
 * Whether tokens may be sent to this URL: https, or http on this machine, which only providers of tests and of one user have. Without
 * a user name, which would hide the host from a quick look.
 */
export function isProviderUrl(text: string): boolean {
  const url = URL.parse(text);
  if (url === null || url.username !== '' || url.password !== '' || url.hash !== '') return false;
  return url.protocol === 'https:' || (url.protocol === 'http:' && isLoopback(url.hostname));
}
