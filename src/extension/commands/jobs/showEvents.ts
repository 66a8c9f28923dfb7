import { jobCommand } from './jobCommand.ts';

export const showEvents = jobCommand({
  title: 'Show Events',
  run: ({ services }, record) => services.events.show(record),
});
