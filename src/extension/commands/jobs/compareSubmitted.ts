import { compareSubmitted as compare } from '../../submitted/compareSubmitted.ts';
import { jobCommand } from './jobCommand.ts';

export const compareSubmitted = jobCommand({
  title: 'Compare Submitted Files',
  run: ({ services }, record) => compare(services, record),
});
