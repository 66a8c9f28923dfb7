import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { linkSync, statSync } from 'node:fs';
import { AppError, systemCode } from '../../core/errors.ts';
import type { StoredSecret } from '../../remote/protocol/secret.ts';
import type { SecretValues } from '../jobFiles/runnerInput.ts';
import type { SecretTable } from '../store/accounts/secretTable.ts';
import { placeAtomically } from '../../core/files/atomicFile.ts';
import { requireOwn } from '../../core/files/ownFiles.ts';
import { shellWord } from '../../core/text/shellWord.ts';
import { readNamedBytesSync } from '../../core/files/namedFile.ts';

const CIPHER = 'aes-256-gcm';
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const MAX_SECRETS = 100;
const KEY_BYTES = 32;
const OTHERS = 0o077;

/**
 * The secrets of all accounts. The store has them only encrypted (AES-256-GCM, with the account and the name as additional data, so that
 * no row can take the place of another), and the key is in a file of its own, which no backup contains.
 */
export class SecretVault {
  readonly #table: SecretTable;
  readonly #keyFile: string;

  /** @param keyFile absolute path; it is created with the first secret. */
  constructor(table: SecretTable, keyFile: string) {
    this.#table = table;
    this.#keyFile = keyFile;
  }

  list(account: string): readonly StoredSecret[] {
    return this.#table.list(account).map(({ name, changedAt, redactsResults }) => ({
      name,
      changed_at: new Date(changedAt).toISOString(),
      ...(redactsResults && { redact_results: true }),
    }));
  }

  has(account: string, name: string): boolean {
    return this.#table.get(account, name) !== undefined;
  }

  /** Those of these secrets whose values are removed from text files among the results of jobs. */
  redactedInResults(account: string, names: readonly string[]): readonly string[] {
    if (names.length === 0) return [];
    return this.#table
      .list(account)
      .filter(({ name, redactsResults }) => redactsResults && names.includes(name))
      .map(({ name }) => name);
  }

  /**
   * @param redactsResults whether its value is removed from text files among the results of jobs; by default as before, and off for a new one.
   * @throws AppError `limit` above 100 secrets, or of `readSecretKey`.
   */
  set(account: string, name: string, value: string, redactsResults?: boolean): void {
    if (!this.has(account, name) && this.#table.list(account).length >= MAX_SECRETS) {
      const message = `The account has ${MAX_SECRETS} secrets, the most that it can have. Remove one first.`;
      throw new AppError('limit', message);
    }
    const nonce = randomBytes(NONCE_BYTES);
    const cipher = createCipheriv(CIPHER, readSecretKey(this.#keyFile, { isNew: true }), nonce);
    cipher.setAAD(contextOf(account, name));
    const encrypted = Buffer.concat([cipher.update(value, 'utf8'), cipher.final()]);
    const sealed = Buffer.concat([nonce, cipher.getAuthTag(), encrypted]);
    this.#table.set(account, name, { sealed, changedAt: Date.now(), redactsResults });
  }

  /** @returns whether it existed. */
  remove(account: string, name: string): boolean {
    return this.#table.remove(account, name);
  }

  /** The values of these secrets. @throws AppError `missing` for one that is not set, `refused` for one that cannot be decrypted. */
  values(account: string, names: readonly string[]): SecretValues {
    const values: Record<string, string> = {};
    for (const name of names) values[name] = this.#value(account, name);
    return values;
  }

  #value(account: string, name: string): string {
    const sealed = this.#table.get(account, name);
    if (sealed === undefined) {
      throw new AppError('missing', `The secret ${name} was removed after the job had been submitted.`);
    }
    try {
      const key = readSecretKey(this.#keyFile, { isNew: false });
      const decipher = createDecipheriv(CIPHER, key, sealed.subarray(0, NONCE_BYTES));
      decipher.setAAD(contextOf(account, name));
      decipher.setAuthTag(sealed.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES));
      const encrypted = sealed.subarray(NONCE_BYTES + TAG_BYTES);
      return Buffer.concat([decipher.update(encrypted), decipher.final()]).toString('utf8');
    } catch (cause) {
      const message = `The service cannot decrypt the secret ${name}, because its key was lost or changed. Set the secret again, then submit again.`;
      throw new AppError('refused', message, { cause });
    }
  }
}

function contextOf(account: string, name: string): Buffer {
  return Buffer.from(`${account}\0${name}`);
}

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
