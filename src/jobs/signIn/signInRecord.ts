import * as z from 'zod';
import * as l10n from '@vscode/l10n';
import type { TokenEndpointResponse } from 'oauth4webapi';
import { fieldOf, textField, tryParseJson } from '../../core/jsonFields.ts';
import { AppError } from '../../core/errors.ts';
import { MAX_TOKEN_AGE_MS } from '../../core/network/providerRules.ts';

/** A sign-in as it is stored: what it was made for, and its tokens. */
const signInRecord = z.object({
  /** The service that its tokens are sent to, and no other. */
  host: z.string(),
  /** The provider that its refresh token is sent to, and no other, whatever the service says later. */
  issuer: z.string(),
  client_id: z.string(),
  scopes: z.array(z.string()),
  access_token: z.string(),
  /** Until when the access token is used before it is renewed, in milliseconds since 1970. */
  fresh_until: z.number(),
  /** Absent if the provider gave none, so that people sign in again when the access token expires. */
  refresh_token: z.string().optional(),
});

// More than a request waits in a queue, and than most clocks differ.
const MARGIN_MS = 60_000;

// If the provider does not say how long a token lives.
const DEFAULT_LIFE_MS = 5 * 60_000;

// RFC 7515, section 7.1, signed.
const TOKEN = /^[\w-]+\.([\w-]+)\.[\w-]+$/;

// Servers refuse larger headers.
const MAX_TOKEN = 12_000;
export type SignInRecord = Readonly<z.infer<typeof signInRecord>>;

/** Where people sign in for a service. */
export type SignInOffer = Pick<SignInRecord, 'host' | 'issuer' | 'client_id' | 'scopes'>;

/** Parses a stored sign-in of a host; undefined for anything else, also for one of another host. */
export function parseSignIn(text: string, host: string): SignInRecord | undefined {
  const { data } = signInRecord.safeParse(tryParseJson(text));
  return data?.host === host ? data : undefined;
}

/**
 * The record of a sign-in with the tokens that a provider gave.
 *
 * @param before the record that is renewed, whose refresh token stays if there is no new one (RFC 6749, section 6).
 * @throws AppError `refused` for an access token that is not for this service: the service could use it elsewhere.
 */
export function newSignIn(
  { host, issuer, client_id, scopes }: SignInOffer,
  { access_token, refresh_token, expires_in: seconds }: TokenEndpointResponse,
  before?: SignInRecord,
): SignInRecord {
  if (!isForHost(access_token, host)) {
    const message = l10n.t(
      'The identity provider {0} issued no token for {1}, so nothing was sent there. Ask the operator of the service: the audience of access tokens must be {1}.',
      issuer,
      host,
    );
    throw new AppError('refused', message);
  }
  const lifeMs = Math.min(seconds === undefined ? DEFAULT_LIFE_MS : seconds * 1_000, MAX_TOKEN_AGE_MS);
  const refreshToken = refresh_token ?? before?.refresh_token;
  return {
    host,
    issuer,
    client_id,
    scopes,
    access_token,
    fresh_until: Date.now() + lifeMs - Math.min(MARGIN_MS, lifeMs / 2),
    ...(refreshToken !== undefined && { refresh_token: refreshToken }),
  };
}

/** Whether a token is a JSON Web Token with this audience, and fits into a header. Its signature is for the service to check. */
function isForHost(token: string, host: string): boolean {
  const { 1: payload } = TOKEN.exec(token) ?? [];
  if (payload === undefined || token.length > MAX_TOKEN) return false;
  const claims = tryParseJson(Buffer.from(payload, 'base64url').toString('utf8'));
  const audience = fieldOf(claims, 'aud');
  return Array.isArray(audience) ? audience.includes(host) : textField(claims, 'aud') === host;
}
