import { setNewest } from '../../../core/setNewest.ts';
import { randomBytes } from 'node:crypto';
import { keyDigest } from '../../store/accounts/apiKeys.ts';

const CODE_BYTES = 32;
const LIFE_MS = 10 * 60_000;
const MAX_LINKS = 10;

/** One-time codes that open the operator's page, in memory. Who can ask for one can administer the service anyway. */
export class OperatorLinks {
  /** When codes expire, by their digest, oldest first. */
  readonly #codes = new Map<string, number>();
  readonly #now: () => number;

  /** @param now returns milliseconds and never goes back. */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** A new code, and for how many milliseconds it is valid. The oldest of more than ten is no longer valid. */
  create(): { readonly code: string; readonly lifeMs: number } {
    const code = randomBytes(CODE_BYTES).toString('base64url');
    setNewest(this.#codes, digestOf(code), this.#now() + LIFE_MS, MAX_LINKS);
    return { code, lifeMs: LIFE_MS };
  }

  /** Whether a code is valid, which it is once. */
  use(code: string): boolean {
    const digest = digestOf(code);
    const expiresAt = this.#codes.get(digest);
    this.#codes.delete(digest);
    return expiresAt !== undefined && this.#now() < expiresAt;
  }
}

function digestOf(code: string): string {
  return keyDigest(code).toString('base64');
}
