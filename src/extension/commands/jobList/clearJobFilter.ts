import { NO_FILTER } from '../../../jobs/ledger/jobFilter.ts';
import type { Command } from '../command.ts';

export const clearJobFilter: Command = ({ services }) => services.listOptions.setFilter(NO_FILTER);
