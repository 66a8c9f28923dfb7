import type { Command } from '../command.ts';

export const returnToSubmit: Command = ({ services }) => services.files.close();
