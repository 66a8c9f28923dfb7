import { findRelated as find } from '../../search/related.ts';
import type { Command } from '../command.ts';

export const findRelated: Command = ({ search }) => find(search());
