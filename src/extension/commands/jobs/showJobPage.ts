import { jobCommand } from './jobCommand.ts';

export const showJobPage = jobCommand({
  title: 'Show Job Page',
  run: ({ services }, record) => services.pages.show(record),
});
