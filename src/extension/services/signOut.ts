import { LOCAL_HOST, machineOfHost } from '../../jobs/service/host.ts';
import type { Services } from './services.ts';

/** Forgets the key of a host and the sign-in to it, in all windows. The sign-in also ends at the identity provider. */
export async function signOut(services: Services, host: string): Promise<void> {
  const { keys, signIns, account, log, signal } = services;
  if (host !== LOCAL_HOST && machineOfHost(host) === undefined) {
    const record = await signIns.get(host);
    // First, so that they are removed whatever the provider responds.
    await signIns.delete(host);
    await keys.delete(host);
    if (record !== undefined) {
      const { endSignIn } = await import('../../jobs/signIn/endSignIn.ts');
      await endSignIn(record, signal).catch((error: unknown) =>
        log.warn('the sign-in may last at its provider', { error }),
      );
    }
  }
  await account.refresh(signal);
}
