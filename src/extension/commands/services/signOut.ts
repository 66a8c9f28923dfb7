import { LOCAL_HOST, machineOfHost } from '../../../jobs/service/host.ts';
import type { Command } from '../command.ts';

export const signOut: Command = async ({ services }) => {
  const host = services.hosts.current();
  if (host !== LOCAL_HOST && machineOfHost(host) === undefined) await services.keys.delete(host);
  await services.account.refresh(services.signal);
};
