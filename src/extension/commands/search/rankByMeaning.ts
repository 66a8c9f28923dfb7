import { rankByMeaning as rank } from '../../search/rankByMeaning.ts';
import type { Command } from '../command.ts';

export const rankByMeaning: Command = ({ search }) => rank(search());
