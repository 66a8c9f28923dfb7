import type { Command } from '../command.ts';

export const closeResults: Command = ({ services }) => services.resultsView.close();
