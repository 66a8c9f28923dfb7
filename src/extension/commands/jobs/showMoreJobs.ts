import type { Command } from '../command.ts';

export const showMoreJobs: Command = ({ services }) => services.store.showMore();
