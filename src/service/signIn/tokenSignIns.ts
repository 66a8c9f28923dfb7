import type { JWTPayload } from 'jose';
import type { Logger } from '../../core/log.ts';
import type { SignInDescription } from '../../remote/protocol/signInDescription.ts';
import type { OidcSettings, SignInRule } from '../config/oidcConfig.ts';
import { disabledAccount, type TokenAuthenticator, type Caller } from '../http/access/keyAuthenticator.ts';
import { refusal } from '../http/access/httpRefusal.ts';
import { type StoredAccount, isAccountId, LOCAL_ACCOUNT } from '../store/accounts/accountTable.ts';
import { toMicro } from '../store/accounts/creditLedger.ts';
import type { Operator } from '../store/accounts/auditEntry.ts';
import type { Store } from '../store/store.ts';
import { TokenVerifier } from './tokenVerifier.ts';
import { printableLine } from '../../core/text/printable.ts';

const MAX_NAME = 100;

interface SignInOptions {
  readonly store: Store;
  readonly log: Logger;
  /** Who runs the service, for the audit trail. */
  readonly operator: Operator;
}

/** People who sign in with the identity provider: finds the account of an access token, and adds it at the first sign-in. */
export class TokenSignIns implements TokenAuthenticator {
  readonly #settings: OidcSettings;
  readonly #options: SignInOptions;
  readonly #verifier: TokenVerifier;

  constructor(settings: OidcSettings, options: SignInOptions) {
    this.#settings = settings;
    this.#options = options;
    this.#verifier = new TokenVerifier(settings, options.log);
  }

  /** Whether the provider answered when it was last asked. */
  get isAvailable(): boolean {
    return this.#verifier.problem === undefined;
  }

  /** How clients sign people in. */
  get description(): SignInDescription {
    const { audience, issuer, scopes, client_id } = this.#settings;
    return {
      resource: audience,
      authorization_servers: [issuer],
      bearer_methods_supported: ['header'],
      scopes_supported: scopes,
      client_id,
    };
  }

  /** Reads the provider's metadata and keys. A failure is logged; the first token tries again. */
  async load(): Promise<void> {
    try {
      await this.#verifier.load();
    } catch (error) {
      this.#options.log.warn('nobody can sign in until the identity provider can be used', { error });
    }
  }

  async enter(token: string): Promise<Caller> {
    const { subject, claims, expiresAt } = await this.#verifier.verify(token);
    const rule = ruleFor(claims, this.#settings);
    const { store } = this.#options;
    const identity = store.identities.find(this.#settings.issuer, subject);
    const account = identity === undefined ? this.#add(subject, claims, rule) : store.accounts.get(identity.account);
    if (account.disabledAt !== null) throw disabledAccount(account);
    return { account, key: undefined, tokenExpiresAt: expiresAt };
  }

  /** Adds the account, its group, credits and identity together with the entry in the audit trail. */
  #add(subject: string, claims: JWTPayload, { group, plan, credits }: ReturnType<typeof ruleFor>): StoredAccount {
    const { store, operator, log } = this.#options;
    const { issuer } = this.#settings;
    const id = accountIdOf(claims, this.#settings);
    if (store.accounts.find(id) !== undefined) {
      log.warn('a sign-in was refused, because its account exists and is not linked', { account: id, issuer, subject });
      const message = `The account "${id}" exists and is not linked to you. If it is yours, ask the operator of the service to link it.`;
      throw refusal(403, message);
    }
    const at = Date.now();
    const account = store.audit.alongside(
      () => {
        store.addAccount({ id, name: displayNameOf(claims, id), plan, createdAt: at });
        // If the configuration names a group that does not exist, that is the operator's mistake, not the person's.
        if (group !== undefined && store.budgets.find('group', group) !== undefined) store.accounts.setGroup(id, group);
        if (credits > 0) store.grant(id, { reference: 'start', amount: toMicro(credits), at });
        store.identities.link({ issuer, subject, account: id, linkedAt: at });
        return store.accounts.get(id);
      },
      ({ name, group: joined }) => ({
        at: new Date(at).toISOString(),
        operator,
        verb: 'accounts.signIn',
        account_id: id,
        input: { issuer, subject, group, plan, credits },
        before: null,
        after: { name, plan, group: joined, credits },
        outcome: 'done',
      }),
    );
    if (account.group !== (group ?? null)) log.warn('a group of [oidc] rules does not exist', { group });
    log.info('an account was added at its first sign-in', { account: id });
    return account;
  }
}

/** The first rule that admits a person. @throws HTTPException 403 if none does. */
function ruleFor(claims: JWTPayload, { rules }: OidcSettings): SignInRule {
  const rule = rules.find(({ claim, values }) => claim === undefined || hasValue(claims, claim, values ?? []));
  if (rule !== undefined) return rule;
  throw refusal(403, 'You are signed in, but may not use this service. Ask its operator to admit you or your group.');
}

/** The ID of a person's account, as the provider names it. @throws HTTPException 403 for anything that cannot be one. */
function accountIdOf(claims: JWTPayload, { account_claim: name }: OidcSettings): string {
  const value = ownClaim(claims, name);
  if (typeof value !== 'string' || !isAccountId(value)) {
    throw refusal(
      403,
      `Your claim "${name}" cannot be the ID of an account, which has up to 64 lower-case letters, digits, ".", "_" and "-". Ask the operator of the service.`,
    );
  }
  if (value === LOCAL_ACCOUNT) {
    throw refusal(403, `Nobody can sign in as "${LOCAL_ACCOUNT}", which is the operator's account.`);
  }
  return value;
}

/** A person's name for lists; the ID of the account without one. */
function displayNameOf(claims: JWTPayload, id: string): string {
  const { name } = claims;
  return typeof name === 'string' ? printableLine(name).trim().slice(0, MAX_NAME).toWellFormed() || id : id;
}

/** Whether a claim is one of the values, or a list with one of them. */
function hasValue(claims: JWTPayload, name: string, values: readonly string[]): boolean {
  const value = ownClaim(claims, name);
  const found: readonly unknown[] = Array.isArray(value) ? value : [value];
  return found.some((each) => typeof each === 'string' && values.includes(each));
}

function ownClaim(claims: JWTPayload, name: string): unknown {
  return Object.hasOwn(claims, name) ? claims[name] : undefined;
}
