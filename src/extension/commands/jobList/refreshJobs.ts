import type { Command } from '../command.ts';

export const refreshJobs: Command = async ({ services }) => {
  await services.store.refresh();
  await services.account.refresh(services.signal);
};
