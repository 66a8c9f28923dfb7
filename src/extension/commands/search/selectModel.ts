import { selectModel as select } from '../../models/modelPick.ts';
import type { Command } from '../command.ts';

export const selectModel: Command = ({ search }) => select(search().modelKeys);
