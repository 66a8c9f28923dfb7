import type { Command } from '../command.ts';

export const showFlowOutput: Command = ({ flows }) => flows().runs.showOutput();
