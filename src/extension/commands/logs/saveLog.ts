import { saveWholeLog } from '../../logs/saveLog.ts';
import { logCommand } from './logCommand.ts';

export const saveLog = logCommand({
  title: 'Save Log',
  run: ({ services }, record) => saveWholeLog(services, record),
});
