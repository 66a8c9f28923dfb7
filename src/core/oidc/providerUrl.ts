import { isLoopback } from '../network/loopback.ts';

/**
 * Whether tokens may be sent to this URL: https, or http on this machine, which only providers of tests and of one user have. Without
 * a user name, which would hide the host from a quick look.
 */
export function isProviderUrl(text: string): boolean {
  const url = URL.parse(text);
  if (url === null || url.username !== '' || url.password !== '' || url.hash !== '') return false;
  return url.protocol === 'https:' || (url.protocol === 'http:' && isLoopback(url.hostname));
}
