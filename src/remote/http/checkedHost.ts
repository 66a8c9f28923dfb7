import { AppError } from '../../core/errors.ts';

/** A base address without a trailing slash. @throws AppError `bad-input` for anything but an http(s) URL without user, query or fragment. */
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
  return host.replace(/\/+$/, '');
}
