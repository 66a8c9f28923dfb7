import type { Command } from '../command.ts';

export const rebuildIndex: Command = ({ search }) => search().index.rebuild();
