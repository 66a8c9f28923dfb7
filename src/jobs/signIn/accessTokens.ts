import * as l10n from '@vscode/l10n';
import { AppError } from '../../core/errors.ts';
import { withFileLock } from '../../core/files/fileLock.ts';
import { createBoundedFetch } from '../../core/network/boundedFetch.ts';
import type { KeySource } from '../../remote/http/bearer.ts';
import { IdentityProvider } from './identityProvider.ts';
import { newSignIn, type SignInRecord } from './signInRecord.ts';

// Longer than two requests that time out.
const STALE_LOCK_MS = 30_000;

/** Where the sign-in of one host is stored. */
export interface SignInStorage {
  read(): Promise<SignInRecord | undefined>;
  write(record: SignInRecord): Promise<void>;
  /** The path of a file that one process at a time creates. Its folder exists. */
  lockFile(): string;
}

/**
 * The access tokens of a sign-in, renewed when they are about to expire. Of all windows and commands, one renews them: providers give
 * a new refresh token each time, and end the sign-in when an old one is used again, because it may have been stolen.
 */
export class AccessTokens implements KeySource {
  readonly #host: string;
  readonly #storage: SignInStorage;
  readonly #remedy: string;
  #renewing: Promise<SignInRecord> | undefined;

  /** @param remedy the sentence that says how to sign in again. */
  constructor(host: string, storage: SignInStorage, remedy: string) {
    this.#host = host;
    this.#storage = storage;
    this.#remedy = remedy;
  }

  /** @throws AppError `not-signed-in` if the sign-in has ended, `unreachable` if the provider does not answer. */
  async current(): Promise<string> {
    const record = await this.#read();
    return isFresh(record) ? record.access_token : (await this.#renewed(record.access_token)).access_token;
  }

  async renew(refused: string): Promise<boolean> {
    return (await this.#renewed(refused)).access_token !== refused;
  }

  #renewed(old: string): Promise<SignInRecord> {
    this.#renewing ??= withFileLock(this.#storage.lockFile(), () => this.#renew(old), {
      staleMs: STALE_LOCK_MS,
    }).finally(() => (this.#renewing = undefined));
    return this.#renewing;
  }

  async #renew(old: string): Promise<SignInRecord> {
    const record = await this.#read();
    if (record.access_token !== old && isFresh(record)) return record; // another process has renewed it
    if (record.refresh_token === undefined) throw this.#ended();
    const provider = await IdentityProvider.open(record, { fetch: createBoundedFetch() });
    try {
      const renewed = newSignIn(record, await provider.refresh(record.refresh_token), record);
      await this.#storage.write(renewed);
      return renewed;
    } catch (error) {
      throw error instanceof AppError && error.code === 'not-signed-in' ? this.#ended(error) : error;
    }
  }

  async #read(): Promise<SignInRecord> {
    const record = await this.#storage.read();
    if (record === undefined) throw this.#ended();
    return record;
  }

  #ended(cause?: unknown): AppError {
    const { host } = new URL(this.#host);
    const message = `${l10n.t('Your sign-in to {0} has ended.', host)} ${this.#remedy}`;
    return new AppError('not-signed-in', message, { cause });
  }
}

function isFresh({ fresh_until: until }: SignInRecord): boolean {
  return Date.now() < until;
}
