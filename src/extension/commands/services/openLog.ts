import type { Command } from '../command.ts';

export const openLog: Command = ({ services }) => services.output.show(true);
