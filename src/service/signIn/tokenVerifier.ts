import { HTTPException } from 'hono/http-exception';
import { createRemoteJWKSet, customFetch, errors, type JWTPayload, jwtVerify, type JWTVerifyGetKey } from 'jose';
import { AppError, messageOf } from '../../core/errors.ts';
import type { Logger } from '../../core/log.ts';
import { createBoundedFetch } from '../../core/network/boundedFetch.ts';
import { discoverProvider } from '../../core/network/discovery.ts';
import { MAX_TOKEN_AGE_MS } from '../../core/network/providerRules.ts';
import type { OidcSettings } from '../config/oidcConfig.ts';
import { refusal } from '../http/access/httpRefusal.ts';

// Signatures with a key that only the provider has. With HS256, everybody who knows the public key could sign.
const ALGORITHMS = [
  'RS256',
  'RS384',
  'RS512',
  'PS256',
  'PS384',
  'PS512',
  'ES256',
  'ES384',
  'ES512',
  'EdDSA',
  'Ed25519',
];
// RFC 9068, section 2.1, and the providers that do not follow it. Logout tokens and the like have other types.
const TYPES: ReadonlySet<string> = new Set(['at+jwt', 'application/at+jwt', 'jwt']);
const CLOCK_TOLERANCE_S = 60;
const FETCH_MS = 5_000;
// A token with an unknown key makes the service ask the provider for its keys at most this often.
const UNKNOWN_KEY_MS = 5_000;
// A provider that did not respond is not asked more often either, so that requests do not wait for it one after another.
const RETRY_MS = 5_000;
// OpenID Connect Core 1.0, section 2.
const SUBJECT = /^[\x20-\x7e]{1,255}$/;

type Keys = ReturnType<typeof createRemoteJWKSet>;

/** An access token that the provider signed for this service and that is valid now. */
export interface VerifiedToken {
  readonly subject: string;
  readonly claims: JWTPayload;
  /** Milliseconds since 1970. */
  readonly expiresAt: number;
}

/** Verifies access tokens (RFC 9068, section 4) with the provider's current keys. */
export class TokenVerifier {
  readonly #settings: OidcSettings;
  readonly #log: Logger;
  readonly #fetch = createBoundedFetch({ timeoutMs: FETCH_MS });
  #keys: Promise<Keys> | undefined;
  #failure: { readonly at: number; readonly message: string } | undefined;

  constructor(settings: OidcSettings, log: Logger) {
    this.#settings = settings;
    this.#log = log;
  }

  /** Why the provider's keys could not be read at the last attempt; undefined if they could. */
  get problem(): string | undefined {
    return this.#failure?.message;
  }

  /** Reads the provider's metadata and keys. @throws AppError that says what is wrong. */
  async load(): Promise<void> {
    const keys = await this.#openKeys();
    await this.#noting(() => keys.reload());
    const usable = keys.jwks()?.keys.filter(({ kty, use }) => kty !== 'oct' && use !== 'enc') ?? [];
    if (usable.length > 0) return;
    throw new AppError('refused', `The identity provider ${this.#settings.issuer} has no key to verify tokens with.`);
  }

  /** @throws HTTPException 401 that says what is wrong with the token, 503 while the provider's keys cannot be read. */
  async verify(token: string): Promise<VerifiedToken> {
    const { issuer, audience, client_id: client } = this.#settings;
    const keys = await this.#forRequest(() => this.#openKeys());
    let unreachable: unknown;
    const findKey: JWTVerifyGetKey = async (header, input) => {
      try {
        return await this.#noting(() => keys(header, input));
      } catch (error) {
        if (error instanceof AppError) unreachable = error;
        throw error;
      }
    };
    let claims: JWTPayload;
    try {
      const { payload, protectedHeader } = await jwtVerify(token, findKey, {
        algorithms: ALGORITHMS,
        issuer,
        audience,
        clockTolerance: CLOCK_TOLERANCE_S,
        maxTokenAge: MAX_TOKEN_AGE_MS / 1_000,
        requiredClaims: ['sub', 'exp'],
      });
      if (!TYPES.has(protectedHeader.typ?.toLowerCase() ?? 'jwt')) throw refusal(401, 'This is not an access token.');
      claims = payload;
    } catch (error) {
      if (unreachable !== undefined) throw unavailable();
      throw error instanceof HTTPException ? error : refusal(401, describe(error));
    }
    if (claims['client_id'] !== client && claims['azp'] !== client) {
      throw refusal(401, 'This token was issued to another client than the one for this service.');
    }
    return this.#checked(claims);
  }

  #checked(claims: JWTPayload): VerifiedToken {
    const { sub: subject, iat = 0, exp = 0 } = claims;
    // jose's clock tolerance also extends the expiry of a token; clients renew tokens before that.
    const expiresAt = Math.min(exp * 1_000, iat * 1_000 + MAX_TOKEN_AGE_MS);
    if (expiresAt <= Date.now()) throw refusal(401, EXPIRED);
    if (typeof subject !== 'string' || !SUBJECT.test(subject)) throw refusal(401, describeClaim('sub'));
    return { subject, claims, expiresAt };
  }

  /** Reads the provider's metadata once; after a failure, again. */
  #openKeys(): Promise<Keys> {
    this.#keys ??= this.#noting(async () => {
      const { issuer } = this.#settings;
      const { jwks_uri: address } = await discoverProvider(issuer, { fetch: this.#fetch });
      if (address === undefined) throw new AppError('refused', `The identity provider ${issuer} names no jwks_uri.`);
      return createRemoteJWKSet(new URL(address), {
        [customFetch]: this.#fetch,
        timeoutDuration: FETCH_MS,
        cooldownDuration: UNKNOWN_KEY_MS,
      });
    });
    this.#keys.catch(() => (this.#keys = undefined));
    return this.#keys;
  }

  async #forRequest<T>(work: () => Promise<T>): Promise<T> {
    if (this.#keys === undefined && this.#failure !== undefined && performance.now() - this.#failure.at < RETRY_MS) {
      throw unavailable();
    }
    try {
      return await work();
    } catch {
      throw unavailable(); // the log says why
    }
  }

  /** Records whether the provider responds. @throws AppError if it does not; any other error about the token unchanged. */
  async #noting<T>(work: () => Promise<T>): Promise<T> {
    try {
      const result = await work();
      if (this.#failure !== undefined) this.#log.info('the identity provider can be used again');
      this.#failure = undefined;
      return result;
    } catch (error) {
      if (error instanceof errors.JWKSNoMatchingKey || error instanceof errors.JWKSMultipleMatchingKeys) throw error;
      const failure = asProviderFailure(error, this.#settings.issuer);
      if (this.#failure?.message !== failure.message) this.#log.warn('the identity provider cannot be used', { error });
      this.#failure = { at: performance.now(), message: failure.message };
      throw failure;
    }
  }
}

const EXPIRED = 'This sign-in has expired. Sign in again.';

function asProviderFailure(error: unknown, issuer: string): AppError {
  if (error instanceof AppError) return error;
  const message = `The keys of the identity provider ${issuer} cannot be read: ${messageOf(error)}`;
  return new AppError('unreachable', message, { cause: error });
}

function unavailable(): HTTPException {
  const message = 'The identity provider does not answer, so sign-ins cannot be checked. Try again in a minute.';
  return new HTTPException(503, { message });
}

/** What is wrong with a token, without repeating any of it. */
function describe(error: unknown): string {
  if (error instanceof errors.JWTExpired) return EXPIRED;
  if (error instanceof errors.JWTClaimValidationFailed) return describeClaim(error.claim);
  if (error instanceof errors.JWTInvalid || error instanceof errors.JWSInvalid)
    return 'This is not a valid access token.';
  return 'This token was not signed by the identity provider of this service.';
}

function describeClaim(claim: string): string {
  if (claim === 'aud') return 'This token is for another service.';
  if (claim === 'iss') return 'This token is from another identity provider.';
  if (claim === 'iat' || claim === 'nbf')
    return 'This token is from the future: the clock of this service or of the identity provider is wrong. Tell the operator of the service.';
  return `This token has no valid claim "${claim}".`;
}
