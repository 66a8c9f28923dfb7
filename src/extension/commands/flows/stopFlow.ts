import type { Command } from '../command.ts';

export const stopFlow: Command = ({ flows }) => flows().starter.stop();
