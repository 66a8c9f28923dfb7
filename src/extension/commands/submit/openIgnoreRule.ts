import type { Command } from '../command.ts';

export const openIgnoreRule: Command = ({ services }, argument) => services.files.openRule(argument);
