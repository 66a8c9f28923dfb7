import type { AppContext } from './appEnv.ts';
import type { KeyAuthenticator } from './keyAuthenticator.ts';
import { onClose } from './onClose.ts';

// What is sending ends by itself when it sees the signal; one that a slow reader holds up cannot see it.
const END_MS = 500;

/**
 * A signal for a request that takes long: it aborts, with the refusal as reason, when the request's key is revoked or
 * expires or its account is disabled. An answer that is still being sent a moment later is broken off.
 */
export function abortOnRevocation(context: AppContext, authenticator: KeyAuthenticator): AbortSignal {
  const { outgoing } = context.env;
  const stay = authenticator.watch(context.var.visit);
  stay.signal.addEventListener('abort', () => {
    const timer = setTimeout(() => outgoing.headersSent && outgoing.destroy(), END_MS);
    onClose(outgoing, () => clearTimeout(timer));
  });
  onClose(outgoing, () => stay[Symbol.dispose]());
  return stay.signal;
}
