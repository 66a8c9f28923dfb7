import { findLines } from '../../logs/logSearch.ts';
import { logCommand } from './logCommand.ts';

export const findInLog = logCommand({
  title: 'Find in Log',
  run: ({ services }, record) => findLines(services, record),
});
