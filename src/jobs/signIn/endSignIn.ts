import { createBoundedFetch } from '../../core/network/boundedFetch.ts';
import { IdentityProvider } from './identityProvider.ts';
import type { SignInRecord } from './signInRecord.ts';

/**
 * Ends a sign-in at its provider, so that a stolen copy of it cannot be renewed. An access token that was already issued is accepted until
 * it expires.
 *
 * @throws AppError if the provider does not answer or refuses.
 */
export async function endSignIn(record: SignInRecord, signal: AbortSignal): Promise<void> {
  if (record.refresh_token === undefined) return;
  const provider = await IdentityProvider.open(record, { fetch: createBoundedFetch(), signal });
  await provider.revoke(record.refresh_token);
}
