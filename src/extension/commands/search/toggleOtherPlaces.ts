import type { Command } from '../command.ts';

export const toggleOtherPlaces: Command = ({ search }) => search().toggleOtherPlaces();
