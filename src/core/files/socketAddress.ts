import { closeSync, openSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { AppError } from '../errors.ts';

// The shortest limit of all systems for a socket's address (unix(7): 107 bytes on Linux, 103 on macOS).
const MAX_ADDRESS_BYTES = 103;

/** An address that stays usable until it is disposed. */
export interface SocketAddress extends Disposable {
  /** What `listen` and `connect` take as a path. */
  readonly path: string;
}

/**
 * The address of a Unix socket. On Linux, a path that is too long for an address is replaced by one through the folder's descriptor.
 *
 * @throws AppError `bad-input` for a path that is too long on other systems; the system's error if the folder does not exist.
 */
export function openSocketAddress(path: string): SocketAddress {
  if (Buffer.byteLength(path) <= MAX_ADDRESS_BYTES) return { path, [Symbol.dispose]: () => {} };
  if (process.platform !== 'linux') {
    const message = `The path ${path} is too long for a socket (at most ${MAX_ADDRESS_BYTES} bytes). Choose a data folder with a shorter path.`;
    throw new AppError('bad-input', message);
  }
  const folder = openSync(dirname(path), 'r');
  return { path: `/proc/self/fd/${folder}/${basename(path)}`, [Symbol.dispose]: () => closeSync(folder) };
}
