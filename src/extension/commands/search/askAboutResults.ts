import type { Command } from '../command.ts';

export const askAboutResults: Command = ({ search }) => search().askAboutResults();
