import { jobCommand } from './jobCommand.ts';

export const showLog = jobCommand({
  title: 'Show Log',
  run: ({ services }, record) => services.jobLog.show(record, { reveal: true }),
});
