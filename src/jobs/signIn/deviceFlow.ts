import * as l10n from '@vscode/l10n';
import { AppError, systemCode } from '../../core/errors.ts';
import { classifyStatus, isPassing } from '../../core/network/classifyFailure.ts';
import { createBoundedFetch } from '../../core/network/boundedFetch.ts';
import { isProviderUrl } from '../../core/network/providerRules.ts';
import { backoffMs, Retries } from '../../core/retry.ts';
import { IdentityProvider, oauthError, responseStatus } from './identityProvider.ts';
import { newSignIn, type SignInOffer, type SignInRecord } from './signInRecord.ts';

// RFC 8628, sections 3.2 and 3.5.
const DEFAULT_INTERVAL_S = 5;
const SLOWER_S = 5;
const MAX_INTERVAL_MS = 60_000;
const MAX_WAIT_S = 30 * 60;
const MAX_CODE = 100;

/** What a person does in a browser, on any device. */
export interface DevicePrompt {
  readonly url: string;
  /** To be typed in, or compared with what the page shows. */
  readonly code: string;
  /** The same page with the code filled in, if the provider has it. */
  readonly completeUrl: string | undefined;
}

/**
 * Signs in with the device flow (RFC 8628): the person confirms a code in a browser anywhere, while this asks the provider whether
 * that has happened.
 *
 * @param show is called with what the person has to do.
 * @throws AppError that says who refused; the signal's reason on abort.
 */
export async function signInByDevice(
  offer: SignInOffer,
  { show, signal }: { readonly show: (prompt: DevicePrompt) => void; readonly signal: AbortSignal },
): Promise<SignInRecord> {
  const provider = await IdentityProvider.open(offer, { fetch: createBoundedFetch(), signal });
  if (!provider.hasDeviceFlow) {
    const message = l10n.t(
      'The identity provider {0} offers no device flow. Ask the operator of the service.',
      offer.issuer,
    );
    throw new AppError('refused', message);
  }
  const started = await provider.startDevice();
  const { verification_uri: url, verification_uri_complete: completeUrl, user_code: code } = started;
  const isShowable = [url, completeUrl ?? url].every(isProviderUrl) && code.length <= MAX_CODE;
  if (!isShowable) {
    const message = l10n.t(
      'The identity provider {0} returned the address of a page that cannot be opened.',
      offer.issuer,
    );
    throw new AppError('refused', message);
  }
  show({ url, code, completeUrl });
  let intervalS = Math.max(1, started.interval ?? DEFAULT_INTERVAL_S);
  let failure: AppError | undefined;
  const retries = new Retries({
    delayMs: (failures) => backoffMs(failures, { firstMs: intervalS * 1_000, longestMs: MAX_INTERVAL_MS }),
    signal,
  });
  const deadline = performance.now() + Math.min(started.expires_in, MAX_WAIT_S) * 1_000;
  while (performance.now() < deadline) {
    await retries.wait();
    try {
      return newSignIn(offer, await provider.redeemDevice(started.device_code));
    } catch (error) {
      signal.throwIfAborted();
      // The person may have confirmed the code while the network was away.
      failure = mayPass(error) ? error : undefined;
      if (failure !== undefined) continue;
      retries.reset();
      const code = refusalIn(error)?.code;
      if (code === 'slow_down') intervalS += SLOWER_S;
      else if (code !== 'authorization_pending') throw explained(error, offer);
    }
  }
  throw failure ?? expired(offer);
}

/** Whether the provider was not reached or has a temporary problem, as opposed to an invalid response. */
function mayPass(error: unknown): error is AppError {
  if (!(error instanceof AppError) || error.code !== 'unreachable') return false;
  const isAnswer = systemCode(error.cause)?.startsWith('OAUTH_') === true && refusalIn(error) === undefined;
  return !isAnswer || isPassing(classifyStatus(responseStatus(error.cause) ?? 0));
}

function refusalIn(error: unknown): ReturnType<typeof oauthError> {
  return error instanceof AppError ? oauthError(error.cause) : undefined;
}

function explained(error: unknown, offer: SignInOffer): unknown {
  const refusal = refusalIn(error);
  if (refusal === undefined) return error;
  if (refusal.code === 'expired_token') return expired(offer);
  const message =
    refusal.code === 'access_denied'
      ? l10n.t('The sign-in was refused at {0}. Nothing has changed.', offer.issuer)
      : l10n.t('The identity provider {0} refused: {1}', offer.issuer, refusal.text);
  return new AppError('not-signed-in', message, { cause: error });
}

function expired({ issuer }: SignInOffer): AppError {
  return new AppError('not-signed-in', l10n.t('Nobody confirmed the code at {0} in time. Sign in again.', issuer));
}
