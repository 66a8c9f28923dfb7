import type { Command } from '../command.ts';

export const clearSearches: Command = ({ search }) => search().recent.clear();
