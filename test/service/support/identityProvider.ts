import { createHash, randomBytes, type webcrypto } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { TestContext } from 'node:test';
import { exportJWK, generateKeyPair, type JWK, type JWTHeaderParameters, type JWTPayload, SignJWT } from 'jose';
import { Browser } from './formBrowser.ts';

export const CLIENT_ID = 'farwharf-of-tests';
const REDIRECT_URI = 'http://127.0.0.1/callback';

/** Somebody who can sign in at the provider. */
export interface Person {
  readonly groups?: readonly string[];
  /** `preferred_username`; the login by default. */
  readonly username?: unknown;
  readonly name?: unknown;
}

/** The identity provider of a test: the npm package oidc-provider on a port of its own, whose signing key the test knows too. */
export class TestProvider {
  readonly issuer: string;
  /** By login, which is also the subject. Removed people can no longer sign in or renew tokens. */
  readonly people = new Map<string, Person>();
  /** The life of access tokens in seconds. */
  tokenLife = 300;
  /** Whether access tokens are opaque, as those of some providers. */
  isOpaque = false;
  /** The audience of access tokens; the requested resource by default. */
  audience: string | undefined;
  /** The paths of all requests. */
  readonly requests: string[] = [];
  readonly #server: Server;
  #handler: RequestListener = () => {};
  #own: RequestListener = () => {};
  #privateKey: webcrypto.CryptoKey | undefined;
  #publicJwk: JWK = {};

  private constructor(server: Server) {
    this.#server = server;
    this.issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    server.on('request', (request, response) => {
      this.requests.push(request.url ?? '');
      this.#handler(request, response);
    });
  }

  static async start(
    t: Pick<TestContext, 'after'>,
    people: Readonly<Record<string, Person>> = {},
  ): Promise<TestProvider> {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const provider = new TestProvider(server);
    for (const [login, person] of Object.entries(people)) provider.people.set(login, person);
    t.after(() => provider.stop());
    await provider.changeKeys();
    return provider;
  }

  /** Stops answering; requests are refused from now on. */
  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    if (!this.#server.listening) return;
    this.#server.close();
    await once(this.#server, 'close');
  }

  /** Replaces the signing key, as providers do from time to time. */
  async changeKeys(): Promise<void> {
    const { privateKey, publicKey } = await generateKeyPair('RS256', { extractable: true });
    const kid = randomBytes(8).toString('hex');
    this.#privateKey = privateKey;
    this.#publicJwk = { ...(await exportJWK(publicKey)), kid, alg: 'RS256', use: 'sig' };
    const signing = { ...(await exportJWK(privateKey)), kid, alg: 'RS256', use: 'sig' };
    const { Provider } = await import('oidc-provider');
    const provider = new Provider(this.issuer, {
      clients: [
        {
          client_id: CLIENT_ID,
          application_type: 'native',
          token_endpoint_auth_method: 'none',
          grant_types: ['authorization_code', 'refresh_token', 'urn:ietf:params:oauth:grant-type:device_code'],
          response_types: ['code'],
          redirect_uris: [REDIRECT_URI],
        },
      ],
      cookies: { keys: [randomBytes(16).toString('hex')] },
      jwks: { keys: [signing] },
      findAccount: (_context: unknown, id: string) =>
        this.people.has(id) ? { accountId: id, claims: () => ({ sub: id }) } : undefined,
      extraTokenClaims: (_context, token) => ('accountId' in token ? this.#claimsOf(token.accountId) : {}),
      features: {
        deviceFlow: { enabled: true },
        devInteractions: { enabled: true },
        revocation: { enabled: true },
        resourceIndicators: {
          enabled: true,
          useGrantedResource: () => true,
          getResourceServerInfo: (_context: unknown, resource: string) => ({
            scope: 'jobs',
            audience: this.audience ?? resource,
            accessTokenFormat: this.isOpaque ? 'opaque' : 'jwt',
            accessTokenTTL: this.tokenLife,
          }),
        },
      },
    });
    const handle = provider.callback();
    this.#own = (request, response) => void handle(request, response);
    this.#handler = this.#own;
  }

  /** What the next requests get in place of the provider's answers. */
  answerWith(handler: RequestListener): void {
    this.#handler = handler;
  }

  /** Answers itself again. */
  answerAgain(): void {
    this.#handler = this.#own;
  }

  /** Any token with the provider's own signature. */
  async sign(claims: JWTPayload, header: Partial<JWTHeaderParameters> = {}): Promise<string> {
    if (this.#privateKey === undefined) throw new Error('the provider has no key yet');
    const protectedHeader = { alg: 'RS256', typ: 'at+jwt', kid: this.#publicJwk.kid ?? '', ...header };
    return new SignJWT(claims).setProtectedHeader(protectedHeader).sign(this.#privateKey);
  }

  get publicJwk(): JWK {
    return this.#publicJwk;
  }

  /** The claims of a token that is in order. */
  goodClaims(login: string, audience: string): JWTPayload {
    const now = Math.floor(Date.now() / 1_000);
    const claims = {
      iss: this.issuer,
      aud: audience,
      sub: login,
      client_id: CLIENT_ID,
      iat: now,
      exp: now + 300,
      jti: randomBytes(8).toString('hex'),
    };
    return { ...claims, ...this.#claimsOf(login) };
  }

  /** Signs somebody in with a browser and the code flow, as a program would. */
  async signIn(login: string, resource: string): Promise<{ access_token: string; refresh_token: string }> {
    const verifier = randomBytes(32).toString('base64url');
    const query = new URLSearchParams({
      client_id: CLIENT_ID,
      response_type: 'code',
      scope: 'openid offline_access',
      prompt: 'consent',
      redirect_uri: REDIRECT_URI,
      resource,
      code_challenge: createHash('sha256').update(verifier).digest('base64url'),
      code_challenge_method: 'S256',
    });
    const back = await new Browser().signIn(`${this.issuer}/auth?${query.toString()}`, login);
    const code = new URL(back).searchParams.get('code') ?? '';
    return this.token({
      grant_type: 'authorization_code',
      code,
      redirect_uri: REDIRECT_URI,
      code_verifier: verifier,
      resource,
    });
  }

  /** Asks the token endpoint. */
  async token(parameters: Record<string, string>): Promise<{ access_token: string; refresh_token: string }> {
    const body = new URLSearchParams({ client_id: CLIENT_ID, ...parameters });
    const response = await fetch(`${this.issuer}/token`, { method: 'POST', body });
    const answer = (await response.json()) as { access_token: string; refresh_token: string; error?: string };
    if (!response.ok) throw new Error(`the provider refused: ${JSON.stringify(answer)}`);
    return answer;
  }

  #claimsOf(login: string): Record<string, unknown> {
    const { username = login, groups = [], name } = this.people.get(login) ?? {};
    return { preferred_username: username, groups, ...(name !== undefined && { name }) };
  }
}
