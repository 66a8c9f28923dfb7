import { LOCAL_HOST, machineOfHost } from '../../../jobs/service/host.ts';
import type { Command } from '../command.ts';

/** Forgets the key of the selected host and the sign-in to it, which also ends at the identity provider. */
export const signOut: Command = async ({ services }) => {
  const { hosts, keys, signIns, account, log, signal } = services;
  const host = hosts.current();
  if (host !== LOCAL_HOST && machineOfHost(host) === undefined) {
    const record = await signIns.get(host);
    // First, so that they are gone whatever the provider answers.
    await signIns.delete(host);
    await keys.delete(host);
    if (record !== undefined) {
      const { endSignIn } = await import('../../../jobs/signIn/endSignIn.ts');
      await endSignIn(record, signal).catch((error: unknown) =>
        log.warn('the sign-in may last at its provider', { error }),
      );
    }
  }
  await account.refresh(signal);
};
