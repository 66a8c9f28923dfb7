import { saveResults as save } from '../../results/browseResults.ts';
import type { Command } from '../command.ts';

export const saveResults: Command = ({ services }, argument) => save(services, argument);
