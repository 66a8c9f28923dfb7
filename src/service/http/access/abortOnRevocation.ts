import type { AppContext } from './appEnv.ts';
import type { KeyAuthenticator } from './keyAuthenticator.ts';
import { onClose } from './onClose.ts';

// A response that is being sent ends at the signal, unless a slow reader blocks it.
const END_MS = 500;

/**
 * A signal for a long-running request. It aborts, with the refusal as the reason, when the request's key is revoked or expires, or
 * its account is disabled. A response that is still being sent half a second later is cut off.
 *
 * @param isTransfer whether the request may take longer than an access token lives, as the upload or download of a large file does. It
 *   then ends only if the account is disabled. The stream of a job, which a client opens again, ends with its token.
 */
export function abortOnRevocation(
  context: AppContext,
  authenticator: KeyAuthenticator,
  { isTransfer }: { readonly isTransfer: boolean },
): AbortSignal {
  const { outgoing } = context.env;
  const { account, key, tokenExpiresAt } = context.var.caller;
  const isTokenWatched = tokenExpiresAt !== undefined && !isTransfer;
  const request = authenticator.watch({ account, key, ...(isTokenWatched && { tokenExpiresAt }) });
  request.signal.addEventListener('abort', () => {
    const timer = setTimeout(() => outgoing.headersSent && outgoing.destroy(), END_MS);
    onClose(outgoing, () => clearTimeout(timer));
  });
  onClose(outgoing, () => request[Symbol.dispose]());
  return request.signal;
}
