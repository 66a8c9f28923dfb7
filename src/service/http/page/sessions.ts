import { randomBytes } from 'node:crypto';
import { keyDigest } from '../../store/accounts/apiKeys.ts';
import type { Caller } from '../access/keyAuthenticator.ts';

const ID_BYTES = 32;
const HOUR_MS = 3_600_000;
const MAX_IDLE_MS = HOUR_MS;
/** Also the life of the cookie, in milliseconds. */
export const MAX_SESSION_MS = 12 * HOUR_MS;
const MAX_OF_HOLDER = 10;

/** Who has signed in to the page. A caller is as they were then, and has to be checked again for each request. */
export type Holder = { readonly type: 'person'; readonly caller: Caller } | { readonly type: 'operator' };

interface Session {
  readonly holder: Holder;
  readonly startedAt: number;
  usedAt: number;
}

/**
 * The sessions of the page, in memory: a restart ends them all. One ends after an hour without a request and after twelve hours, and
 * the oldest of a key when it has ten. So there are at most ten times as many as keys.
 */
export class SessionTable {
  /** By the digest of their IDs, oldest first. */
  readonly #sessions = new Map<string, Session>();
  readonly #now: () => number;

  /** @param now returns milliseconds and never goes back. */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** Starts a session and returns its ID, which is stored nowhere. */
  start(holder: Holder): string {
    this.#removeEnded();
    const own = [...this.#sessions].filter(([, session]) => nameOf(session.holder) === nameOf(holder));
    for (const [name] of own.slice(0, Math.max(0, own.length - MAX_OF_HOLDER + 1))) this.#sessions.delete(name);
    const id = randomBytes(ID_BYTES).toString('base64url');
    const now = this.#now();
    this.#sessions.set(digestOf(id), { holder, startedAt: now, usedAt: now });
    return id;
  }

  /** The holder of a session that has not ended, which is used by this. */
  use(id: string): Holder | undefined {
    const session = this.#sessions.get(digestOf(id));
    if (session === undefined) return undefined;
    if (this.#hasEnded(session)) {
      this.end(id);
      return undefined;
    }
    session.usedAt = this.#now();
    return session.holder;
  }

  end(id: string): void {
    this.#sessions.delete(digestOf(id));
  }

  #hasEnded({ startedAt, usedAt }: Session): boolean {
    const now = this.#now();
    return now - usedAt >= MAX_IDLE_MS || now - startedAt >= MAX_SESSION_MS;
  }

  #removeEnded(): void {
    for (const [name, session] of this.#sessions) if (this.#hasEnded(session)) this.#sessions.delete(name);
  }
}

/** Sessions are counted for each key, and for all operators together. */
function nameOf(holder: Holder): string {
  return holder.type === 'operator' ? 'operator' : `${holder.caller.account.id} ${holder.caller.key?.id ?? ''}`;
}

function digestOf(id: string): string {
  return keyDigest(id).toString('base64');
}
