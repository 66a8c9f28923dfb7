import type { Command } from '../command.ts';

export const resumeIndex: Command = ({ search }) => search().setPaused(false);
