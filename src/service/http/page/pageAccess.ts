import { randomBytes } from 'node:crypto';
import { deleteCookie, getCookie, setCookie } from 'hono/cookie';
import { HTTPException } from 'hono/http-exception';
import { keyDigest } from '../../store/accounts/apiKeys.ts';
import { retryLater } from '../access/accountGauge.ts';
import type { AppContext } from '../access/appEnv.ts';
import { admitKey } from '../access/auth.ts';
import type { AuthFailureLimiter } from '../access/authFailureLimiter.ts';
import type { Caller, KeyAuthenticator } from '../access/keyAuthenticator.ts';
import { refusal } from '../access/httpRefusal.ts';
import { readRequestBody } from '../access/readBody.ts';
import type { OperatorLinks } from './operatorLinks.ts';

const COOKIE = 'farwharf';
const MAX_FORM_BYTES = 4_096;
const ID_BYTES = 32;
const HOUR_MS = 3_600_000;
const MAX_IDLE_MS = HOUR_MS;

/** Also the life of the cookie, in milliseconds. */
const MAX_SESSION_MS = 12 * HOUR_MS;
const MAX_OF_HOLDER = 10;

export interface PageAccessOptions {
  readonly authenticator: KeyAuthenticator;
  readonly authFailures: AuthFailureLimiter;
  readonly links: OperatorLinks;
  /** Whether browsers reach the page through TLS, so that the cookie may be limited to it. */
  readonly isSecure: boolean;
}

/** Who has signed in to the page. A caller is as they were then, and has to be checked again for each request. */
type Holder = { readonly type: 'person'; readonly caller: Caller } | { readonly type: 'operator' };

interface Session {
  readonly holder: Holder;
  readonly startedAt: number;
  usedAt: number;
}

/** Who uses the page: signing in, the session of each request, signing out. */
export class PageAccess {
  readonly #options: PageAccessOptions;
  readonly #sessions = new SessionTable();

  constructor(options: PageAccessOptions) {
    this.#options = options;
  }

  /** Starts a session for the key of the form. @throws HTTPException 401, 403 or 429, as requests of `/v1` get. */
  async signIn(context: AppContext): Promise<void> {
    const key = (await readForm(context)).get('key')?.trim() ?? '';
    if (key === '') throw refusal(401, 'Enter an API key.');
    this.#start(context, { type: 'person', caller: admitKey(context, key, this.#options) });
  }

  /** Starts an operator's session for the code of the form. @throws HTTPException 401 or 429. */
  async signInOperator(context: AppContext): Promise<void> {
    const { authFailures, links } = this.#options;
    const code = (await readForm(context)).get('code') ?? '';
    const digest = keyDigest(code);
    const seconds = authFailures.secondsToWait(context.var.client, digest);
    if (seconds > 0) throw retryLater(context, seconds, 'This address sent too many wrong links or keys.');
    if (!links.use(code)) {
      authFailures.noteWrong(context.var.client, digest);
      throw refusal(401, 'This link was used or has expired. Print another one with:  farwharf admin page');
    }
    this.#start(context, { type: 'operator' });
  }

  /**
   * Who has signed in, as the store knows them now; undefined for nobody.
   *
   * @throws HTTPException 401 if the key was revoked or has expired, 403 if its account is disabled. The session has ended then.
   */
  holder(context: AppContext): Holder | undefined {
    const id = this.#cookie(context);
    const holder = id === undefined ? undefined : this.#sessions.use(id);
    if (id === undefined || holder?.type !== 'person') return holder;
    try {
      return { type: 'person', caller: this.#options.authenticator.check(holder.caller) };
    } catch (error) {
      if (error instanceof HTTPException) this.signOut(context);
      throw error;
    }
  }

  signOut(context: AppContext): void {
    const id = this.#cookie(context);
    if (id !== undefined) this.#sessions.end(id);
    deleteCookie(context, COOKIE, this.#attributes());
  }

  /** Ends the browser's previous session, so that no ID outlives a change of rights. */
  #start(context: AppContext, holder: Holder): void {
    const before = this.#cookie(context);
    if (before !== undefined) this.#sessions.end(before);
    const maxAge = MAX_SESSION_MS / 1_000;
    setCookie(context, COOKIE, this.#sessions.start(holder), { ...this.#attributes(), maxAge });
  }

  #cookie(context: AppContext): string | undefined {
    return this.#options.isSecure ? getCookie(context, COOKIE, 'host') : getCookie(context, COOKIE);
  }

  /** With TLS, `__Host-` keeps other hosts of the domain from setting the cookie (RFC 6265bis, section 4.1.3.2). */
  #attributes() {
    const { isSecure } = this.#options;
    const common = { httpOnly: true, sameSite: 'Strict', path: '/', secure: isSecure } as const;
    return isSecure ? ({ ...common, prefix: 'host' } as const) : common;
  }
}

/** The values of a form as browsers send it without JavaScript. @throws HTTPException 415. */
async function readForm(context: AppContext): Promise<URLSearchParams> {
  const type = context.req.header('content-type') ?? '';
  if (!/^application\/x-www-form-urlencoded\b/i.test(type)) throw refusal(415, 'Send the form of the page.');
  return new URLSearchParams((await readRequestBody(context.env.incoming, MAX_FORM_BYTES)).toString('utf8'));
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
    const sessions = [...this.#sessions].filter(([, session]) => nameOf(session.holder) === nameOf(holder));
    for (const [name] of sessions.slice(0, Math.max(0, sessions.length - MAX_OF_HOLDER + 1)))
      this.#sessions.delete(name);
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
