import { openFirstError } from '../../logs/firstError.ts';
import { logCommand } from './logCommand.ts';

export const showFirstError = logCommand({
  title: 'Show First Error in Log',
  run: ({ services }, record) => openFirstError(services, record),
});
