import type { Command } from '../command.ts';

export const pauseIndex: Command = ({ search }) => search().setPaused(true);
