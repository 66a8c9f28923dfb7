import * as l10n from '@vscode/l10n';
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

/** The display name of a job's state or icon: `timed out`. Names that only its service knows are shown as they are. */
export function stateWord(state: string): string {
  const words: Readonly<Record<string, string>> = {
    sending: l10n.t('sending'),
    unknown: l10n.t('unknown'),
    lost: l10n.t('lost'),
    queued: l10n.t('queued'),
    starting: l10n.t('starting'),
    running: l10n.t('running'),
    succeeded: l10n.t('succeeded'),
    failed: l10n.t('failed'),
    cancelled: l10n.t('cancelled'),
  };
  if (/^timed[_-]out$/.test(state)) return l10n.t('timed out');
  return Object.hasOwn(words, state) ? (words[state] ?? state) : state.replaceAll('_', ' ');
}

/** The icon for the state; unknown states count as running until the job ends. */
export function jobIcon(record: Pick<JobRecord, 'state' | 'finishedAt' | 'exitCode'>): JobIcon {
  const state = stateOfWord(record.state) ?? record.state.toLowerCase();
  const icon = ICON_OF_STATE.get(state);
  if (icon !== undefined) return icon;
  if (!isOver(record)) return 'running';
  return hasSucceeded(record) ? 'succeeded' : 'failed';
}
