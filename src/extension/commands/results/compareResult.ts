import { compareResult as compare } from '../../results/browseResults.ts';
import type { Command } from '../command.ts';

export const compareResult: Command = ({ services }, argument) => compare(services, argument);
