import { filterPick } from '../../jobList/filterPick.ts';
import type { Command } from '../command.ts';

export const filterJobs: Command = async ({ services }) => {
  if (!services.store.isLoaded) await services.store.refresh();
  await filterPick(services);
};
