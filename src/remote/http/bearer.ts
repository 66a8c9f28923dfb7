import { AppError } from '../../core/errors.ts';
import { classifyFailure } from '../../core/network/classifyFailure.ts';
import type { Redactor } from '../../core/redact.ts';

/** Supplies the key of each request, for keys that live for minutes, such as the access tokens of an identity provider. */
export interface KeySource {
  /** The key to send now. */
  current(): Promise<string>;
  /** Called when the service refused a key (401). Returns whether `current` supplies another one, with which to try again. */
  renew(refused: string): Promise<boolean>;
}

/** The bearer of a client's requests: a key, or what a source supplies. */
export class Bearer {
  readonly #key: string | KeySource;
  readonly #redactor: Redactor;

  /** @throws AppError `bad-input` for a key that is not valid in a header. */
  constructor(key: string | KeySource, redactor: Redactor) {
    this.#key = isKeySource(key) ? key : this.#checked(key, redactor);
    this.#redactor = redactor;
  }

  /** Calls `send` with the value of the header `Authorization`, and once more if the source has another key after a 401. */
  async send<T>(send: (authorization: string) => Promise<T>): Promise<T> {
    const key = this.#key;
    if (typeof key === 'string') return send(`Bearer ${key}`);
    const current = this.#checked(await key.current(), this.#redactor);
    try {
      return await send(`Bearer ${current}`);
    } catch (error) {
      if (classifyFailure(error) !== 'unauthorized' || !(await key.renew(current))) throw error;
      return send(`Bearer ${this.#checked(await key.current(), this.#redactor)}`);
    }
  }

  #checked(key: string, redactor: Redactor): string {
    if (typeof key !== 'string' || !/^[\x21-\x7e]+$/.test(key)) {
      throw new AppError('bad-input', 'The API key is empty or contains invalid characters. Enter it again.');
    }
    redactor.add(key);
    return key;
  }
}

function isKeySource(key: unknown): key is KeySource {
  return typeof key === 'object' && key !== null && 'current' in key;
}
