import type { Command } from '../command.ts';

export const newFlow: Command = ({ flows }) => flows().create();
