import type { JWTPayload } from 'jose';
import { printableLine } from '../../core/text/printable.ts';
import type { OidcSettings, SignInRule } from '../config/oidcConfig.ts';
import { refusal } from '../http/access/refusal.ts';
import { isAccountId, LOCAL_ACCOUNT } from '../store/accounts/accounts.ts';

const MAX_NAME = 100;

/** The first rule that admits a person. @throws HTTPException 403 if none does. */
export function ruleFor(claims: JWTPayload, { rules }: OidcSettings): SignInRule {
  const rule = rules.find(({ claim, values }) => claim === undefined || hasValue(claims, claim, values ?? []));
  if (rule !== undefined) return rule;
  throw refusal(403, 'You are signed in, but may not use this service. Ask its operator to admit you or your group.');
}

/** The ID of a person's account, as the provider names it. @throws HTTPException 403 for anything that cannot be one. */
export function accountIdOf(claims: JWTPayload, { account_claim: name }: OidcSettings): string {
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
export function displayNameOf(claims: JWTPayload, id: string): string {
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
