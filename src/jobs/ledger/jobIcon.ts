import { stateOfWord } from '../../remote/protocol/spellings.ts';
import { hasSucceeded, isOver, type JobRecord } from './record.ts';

/** Icon families of a job row; each user interface has its own icons for them. */
export const JOB_ICONS = [
  'sending',
  'queued',
  'running',
  'succeeded',
  'failed',
  'cancelled',
  'timed-out',
  'unknown',
] as const;
export type JobIcon = (typeof JOB_ICONS)[number];

/** Jobs in other states show as running until they end, then by their outcome. */
const ICON_OF_STATE: ReadonlyMap<string, JobIcon> = new Map([
  ['sending', 'sending'],
  ['unknown', 'unknown'],
  ['lost', 'unknown'],
  ['queued', 'queued'],
  ['starting', 'queued'],
  ['cancelled', 'cancelled'],
  ['timed_out', 'timed-out'],
]);
/** The icon for the state; unknown states count as running until the job ends. */
export function jobIcon(record: Pick<JobRecord, 'state' | 'finishedAt' | 'exitCode'>): JobIcon {
  const state = stateOfWord(record.state) ?? record.state.toLowerCase();
  const icon = ICON_OF_STATE.get(state);
  if (icon !== undefined) return icon;
  if (!isOver(record)) return 'running';
  return hasSucceeded(record) ? 'succeeded' : 'failed';
}
