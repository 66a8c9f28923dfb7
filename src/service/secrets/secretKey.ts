import { randomBytes } from 'node:crypto';
import { linkSync, statSync } from 'node:fs';
import { AppError, systemCode } from '../../core/errors.ts';
import { placeAtomically } from '../../core/files/atomicFile.ts';
import { requireOwn } from '../../core/files/ownFiles.ts';
import { shellWord } from '../../core/text/shellWord.ts';
import { readNamedBytesSync } from '../../core/files/namedFile.ts';

const KEY_BYTES = 32;
const OTHERS = 0o077;

/**
 * The key that encrypts the secrets of all accounts: 32 random bytes in a file that only this user can read.
 *
 * @param isNew whether to create the file if it is missing.
 * @throws AppError `missing` without the file, `permission` if others can read it or it contains anything else, `refused` if others can write it.
 */
export function readSecretKey(path: string, { isNew }: { readonly isNew: boolean }): Buffer {
  if (isNew) createKey(path);
  let key: Buffer;
  try {
    requireOwn(path);
    if (process.platform !== 'win32' && (statSync(path).mode & OTHERS) !== 0) {
      const message = `Other users can read ${path}, the key of the secrets. Run:  chmod 600 ${shellWord(path)}`;
      throw new AppError('permission', message);
    }
    key = readNamedBytesSync(path, { name: `The key of the secrets, ${path},` });
  } catch (cause) {
    if (systemCode(cause) !== 'ENOENT') throw cause;
    throw new AppError('missing', `The key of the secrets, ${path}, does not exist.`, { cause });
  }
  if (key.length === KEY_BYTES) return key;
  throw new AppError(
    'permission',
    `${path} is not the key of the secrets, because it does not have ${KEY_BYTES} bytes.`,
  );
}

/** Creates the file, which appears completely or not at all, unless it exists. */
function createKey(path: string): void {
  const link = (unfinished: string): void => {
    try {
      linkSync(unfinished, path);
    } catch (error) {
      if (systemCode(error) !== 'EEXIST') throw error;
    }
  };
  placeAtomically(path, randomBytes(KEY_BYTES), link, { isDurable: true });
}
