import { logCommand } from './logCommand.ts';

export const openFullLog = logCommand({
  title: 'Open Full Log',
  run: ({ services: { logDocuments, signal } }, record) => logDocuments.open(record, undefined, signal),
});
