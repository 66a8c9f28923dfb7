import { printableText } from '../../../core/text/printable.ts';
import { logEventData } from '../../../remote/protocol/schemas.ts';
import type { EventTable } from '../../store/jobs/events.ts';
import type { LogPart } from './views/jobView.ts';

// Of one part, before it is cleaned: some thousand lines.
const PART_CHARACTERS = 200_000;

/**
 * The part of a job's output that ends before the event `before`, or at its end. Of a line that was redrawn, such as a progress bar, only
 * the last state is shown.
 */
export function readLogPart(events: Pick<EventTable, 'pageBefore'>, jobNumber: number, before?: number): LogPart {
  const page = events.pageBefore(jobNumber, before ?? Number.MAX_SAFE_INTEGER, PART_CHARACTERS);
  const output = page
    .map(({ type, data }) => (type === 'log' ? logEventData.parse(JSON.parse(data)).text : ''))
    .join('');
  const lines = output.split(/\r?\n/).map((line) => line.split('\r').findLast((part) => part !== '') ?? '');
  const first = page[0]?.id ?? 1;
  return { text: printableText(lines.join('\n')), earlier: first > 1 ? first : undefined };
}
