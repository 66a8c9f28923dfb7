import * as l10n from '@vscode/l10n';
import { AppError } from '../../core/errors.ts';
import { classifyStatus, isPassing } from '../../core/network/classifyFailure.ts';
import { isLoopback } from '../../core/network/loopback.ts';
import { isProviderUrl } from '../../core/network/providerRules.ts';
import { SIGN_IN_PATH, signInDescription } from '../../remote/protocol/signInDescription.ts';
import type { SignInOffer } from './signInRecord.ts';

// RFC 6749, appendix A.
const CLIENT_ID = /^[\x20-\x7e]{1,1000}$/;
const SCOPE = /^[\x21\x23-\x5b\x5d-\x7e]{1,200}$/;
const OK = 200;

/**
 * Asks a service where its users sign in. No key is sent.
 *
 * @returns undefined for a service where everybody needs a key.
 * @throws AppError `refused` for an answer that could send a person's tokens elsewhere, `unreachable` for a service that has a problem now; the
 *   system's error if it is not reached.
 */
export async function readSignInOffer(
  host: string,
  { fetch, signal }: { readonly fetch: typeof globalThis.fetch; readonly signal: AbortSignal },
): Promise<SignInOffer | undefined> {
  const response = await fetch(`${host}${SIGN_IN_PATH}`, { headers: { accept: 'application/json' }, signal });
  const { status } = response;
  if (isPassing(classifyStatus(status))) {
    const what = l10n.t('{0} does not respond ({1}).', new URL(host).host, `HTTP ${status}`);
    throw new AppError('unreachable', `${what} ${l10n.t('Try again later.')}`);
  }
  if (status !== OK) return undefined;
  const { data } = signInDescription.safeParse(await response.json().catch(() => undefined));
  if (data === undefined) return undefined;
  const { resource, authorization_servers: issuers, client_id, scopes_supported: scopes } = data;
  const [issuer = ''] = issuers;
  // Otherwise a service could collect tokens for another one (RFC 9728, section 3.3).
  if (resource !== host) {
    const name = resource.slice(0, 200);
    throw unusable(host, l10n.t('it calls itself {0}. Connect to that address if it is the same service', name));
  }
  if (!isIssuerFor(issuer, host)) throw unusable(host, l10n.t('its identity provider is not an https URL'));
  if (!CLIENT_ID.test(client_id) || !scopes.every((scope) => SCOPE.test(scope)))
    throw unusable(host, l10n.t('its client ID or scopes contain invalid characters'));
  return { host, issuer, client_id, scopes };
}

/** A service elsewhere cannot name a program on this machine as its provider, which would then receive requests from here. */
function isIssuerFor(issuer: string, host: string): boolean {
  if (!isProviderUrl(issuer)) return false;
  return !isLoopback(new URL(issuer).hostname) || isLoopback(new URL(host).hostname);
}

function unusable(host: string, why: string): AppError {
  return new AppError('refused', l10n.t('You cannot sign in to {0}: {1}.', new URL(host).host, why));
}
