import * as l10n from '@vscode/l10n';
import {
  authorizationCodeGrantRequest,
  AuthorizationResponseError,
  type AuthorizationServer,
  calculatePKCECodeChallenge,
  type Client,
  clockTolerance,
  deviceAuthorizationRequest,
  type DeviceAuthorizationResponse,
  deviceCodeGrantRequest,
  None,
  OperationProcessingError,
  processAuthorizationCodeResponse,
  processDeviceAuthorizationResponse,
  processDeviceCodeResponse,
  processRefreshTokenResponse,
  processRevocationResponse,
  refreshTokenGrantRequest,
  ResponseBodyError,
  revocationRequest,
  type TokenEndpointResponse,
  validateAuthResponse,
} from 'oauth4webapi';
import { AppError, messageOf } from '../../core/errors.ts';
import { discoverProvider, requestOptions, type ProviderRequestSettings } from '../../core/network/discovery.ts';
import type { SignInOffer } from './signInRecord.ts';
import { printableLine } from '../../core/text/printable.ts';

// ID tokens are not used, so this lets a computer with a wrong clock sign in.
const ANY_CLOCK_S = 10 * 365 * 86_400;
const OK = 200;

/** Of the errors of RFC 6749 (sections 4.1.2.1 and 5.2), those that are no lasting refusal of the request. */
const CODES: Readonly<Record<string, 'not-signed-in' | 'unreachable'>> = {
  invalid_grant: 'not-signed-in',
  server_error: 'unreachable',
  temporarily_unavailable: 'unreachable',
};
const MAX_TEXT = 300;

/** The provider of a sign-in, and the public client with which people sign in: no secret, so PKCE protects the code (RFC 7636). */
export class IdentityProvider {
  readonly #offer: SignInOffer;
  readonly #metadata: AuthorizationServer;
  readonly #client: Client;
  readonly #settings: ProviderRequestSettings;

  private constructor(offer: SignInOffer, metadata: AuthorizationServer, settings: ProviderRequestSettings) {
    this.#offer = offer;
    this.#metadata = metadata;
    this.#client = { client_id: offer.client_id, [clockTolerance]: ANY_CLOCK_S };
    this.#settings = settings;
  }

  /** @throws AppError of `discoverProvider`. */
  static async open(offer: SignInOffer, settings: ProviderRequestSettings): Promise<IdentityProvider> {
    return new IdentityProvider(offer, await discoverProvider(offer.issuer, settings), settings);
  }

  get hasDeviceFlow(): boolean {
    return this.#metadata.device_authorization_endpoint !== undefined;
  }

  /** Asks for a code that a person confirms in a browser (RFC 8628, section 3.1). @throws AppError. */
  startDevice(): Promise<DeviceAuthorizationResponse> {
    return this.#asking(async () => {
      const parameters = this.#requested();
      const response = await deviceAuthorizationRequest(
        this.#metadata,
        this.#client,
        None(),
        parameters,
        this.#options(),
      );
      return processDeviceAuthorizationResponse(this.#metadata, this.#client, response);
    });
  }

  /** The tokens, once the person has confirmed the code. @throws AppError until then, whose cause is what the provider said. */
  redeemDevice(deviceCode: string): Promise<TokenEndpointResponse> {
    return this.#asking(async () => {
      const options = { ...this.#options(), additionalParameters: this.#resource() };
      const response = await deviceCodeGrantRequest(this.#metadata, this.#client, None(), deviceCode, options);
      return processDeviceCodeResponse(this.#metadata, this.#client, response);
    });
  }

  /** The page on which a person signs in, which then leads to `redirectUri`. @throws AppError `refused` for a provider without one. */
  async authorizationUrl(redirectUri: string, secrets: { verifier: string; state: string }): Promise<URL> {
    const { authorization_endpoint: endpoint } = this.#metadata;
    if (endpoint === undefined) {
      throw new AppError('refused', l10n.t('The identity provider {0} has no sign-in page.', this.#offer.issuer));
    }
    const url = new URL(endpoint);
    const parameters = {
      ...this.#requested(),
      response_type: 'code',
      redirect_uri: redirectUri,
      state: secrets.state,
      code_challenge: await calculatePKCECodeChallenge(secrets.verifier),
      code_challenge_method: 'S256',
      // Without this scope, a provider issues no refresh token (OpenID Connect Core 1.0, section 11).
      ...(this.#offer.scopes.includes('offline_access') && { prompt: 'consent' }),
    };
    for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
    // VS Code would encode a plus sign when it opens the page.
    url.search = url.search.replaceAll('+', '%20');
    return url;
  }

  /** The tokens for what the browser came back with. @throws AppError if the person or the provider refused. */
  redeemCode(answer: URL, redirectUri: string, secrets: { verifier: string; state: string }) {
    return this.#asking(async () => {
      const { verifier, state } = secrets;
      const parameters = validateAuthResponse(this.#metadata, this.#client, answer, state);
      const response = await authorizationCodeGrantRequest(
        this.#metadata,
        this.#client,
        None(),
        parameters,
        redirectUri,
        verifier,
        { ...this.#options(), additionalParameters: this.#resource() },
      );
      return processAuthorizationCodeResponse(this.#metadata, this.#client, response);
    });
  }

  /** New tokens for a refresh token. @throws AppError `not-signed-in` if the provider no longer accepts it. */
  refresh(refreshToken: string): Promise<TokenEndpointResponse> {
    return this.#asking(async () => {
      const options = { ...this.#options(), additionalParameters: this.#resource() };
      const response = await refreshTokenGrantRequest(this.#metadata, this.#client, None(), refreshToken, options);
      return processRefreshTokenResponse(this.#metadata, this.#client, response);
    });
  }

  /** Ends a sign-in at the provider (RFC 7009), if it offers that. @throws AppError. */
  async revoke(token: string): Promise<void> {
    if (this.#metadata.revocation_endpoint === undefined) return;
    await this.#asking(async () => {
      const response = await revocationRequest(this.#metadata, this.#client, None(), token, this.#options());
      await processRevocationResponse(response);
    });
  }

  #requested(): Record<string, string> {
    return { client_id: this.#offer.client_id, scope: this.#offer.scopes.join(' '), ...this.#resource() };
  }

  /** The service that the access token is for (RFC 8707), as this client calls it. */
  #resource(): { readonly resource: string } {
    return { resource: this.#offer.host };
  }

  #options() {
    return requestOptions(this.#settings);
  }

  async #asking<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (cause) {
      this.#settings.signal?.throwIfAborted();
      if (cause instanceof AppError) throw cause;
      const { issuer } = this.#offer;
      const refusal = oauthError(cause);
      if (refusal === undefined) {
        const status = responseStatus(cause);
        const what = status === undefined || status === OK ? messageOf(cause) : `HTTP ${status}`;
        const message = l10n.t('The identity provider {0} did not answer as expected: {1}', issuer, what);
        throw new AppError('unreachable', message, { cause });
      }
      const code = CODES[refusal.code] ?? 'refused';
      throw new AppError(code, l10n.t('The identity provider {0} refused: {1}', issuer, refusal.text), { cause });
    }
  }
}

/** What a provider says about a request that it refused (RFC 6749, section 5.2); undefined for any other error. */
export function oauthError(error: unknown): { readonly code: string; readonly text: string } | undefined {
  if (!(error instanceof ResponseBodyError || error instanceof AuthorizationResponseError)) return undefined;
  const text = printableLine(error.error_description ?? error.error).slice(0, MAX_TEXT);
  return { code: error.error, text };
}

/** The HTTP status of an unusable response; undefined if the status was not the problem. */
export function responseStatus(error: unknown): number | undefined {
  if (!(error instanceof OperationProcessingError) || !(error.cause instanceof Response)) return undefined;
  return error.cause.status;
}
