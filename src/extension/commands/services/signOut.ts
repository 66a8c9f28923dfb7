import { LOCAL_HOST } from '../../../jobs/service/host.ts';
import type { Command } from '../command.ts';

export const signOut: Command = async ({ services }) => {
  const host = services.hosts.current();
  if (host !== LOCAL_HOST) await services.keys.delete(host);
  await services.account.refresh(services.signal);
};
