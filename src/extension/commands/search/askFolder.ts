import { askFolder as ask } from '../../search/ask.ts';
import type { Command } from '../command.ts';

export const askFolder: Command = ({ search }) => ask(search());
