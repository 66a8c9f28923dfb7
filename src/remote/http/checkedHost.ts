import { AppError } from '../../core/errors.ts';
import { isLoopback } from '../../core/network/loopback.ts';

/**
 * A base address without a trailing slash.
 *
 * @throws AppError `bad-input` for anything but an http(s) URL without user, query or fragment, and as `refuseUnencrypted` does.
 */
export function checkedHost(host: string): string {
  const url = URL.parse(host);
  // Request paths are appended to this text, and would become part of a query, a fragment or a trailing space.
  const isUsable = url !== null && /^https?:$/.test(url.protocol) && !/[?#\\\s]/.test(host);
  // The address may contain a password, so the message does not repeat it.
  if (!isUsable || url.username !== '' || url.password !== '') {
    throw new AppError(
      'bad-input',
      'The service address is not valid. Enter one like https://jobs.example.org, without a user name, password or query.',
    );
  }
  refuseUnencrypted(url);
  return host.replace(/\/+$/, '');
}

/** @throws AppError `bad-input` for http to another machine, where everyone on the network could read the key and the files. */
export function refuseUnencrypted({ protocol, hostname, host }: URL): void {
  if (protocol === 'https:' || isLoopback(hostname)) return;
  throw new AppError(
    'bad-input',
    `http://${host} would send your key and files unencrypted, so nothing was sent. Use https://${host}. ` +
      'Without a certificate, connect the machine over SSH (farwharf connect), or forward a port of 127.0.0.1 to it.',
  );
}
