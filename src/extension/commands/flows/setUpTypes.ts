import type { Command } from '../command.ts';

export const setUpTypes: Command = ({ flows }) => flows().setUpTypes();
