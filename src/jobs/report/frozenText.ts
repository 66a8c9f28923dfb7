import * as l10n from '@vscode/l10n';
import { printableLine } from '../../core/text/printable.ts';
import { isOver, type JobRecord } from '../ledger/record.ts';

type FrozenJob = JobRecord & { readonly frozen: NonNullable<JobRecord['frozen']> };

/** Whether the job waits for a debugger. */
export function isFrozen(record: JobRecord): record is FrozenJob {
  return record.frozen !== null && !isOver(record);
}

/** Whether a debugger can be attached to the job now. */
export function isDebuggable(record: JobRecord): boolean {
  return record.debug !== null && record.state === 'running' && record.jobId !== null;
}

/** `waits at train.py:41: KeyError 'lr'`. */
export function describeFrozen({ frozen: { reason, file, line, error, message } }: FrozenJob): string {
  const place = line === 0 ? file : `${file}:${line}`;
  if (reason === 'start') return printableLine(l10n.t('waits at its start for a debugger'));
  if (reason === 'limit') return printableLine(l10n.t('waits at {0}, just before its time limit', place));
  const what = [error, message].filter((part) => part !== '').join(' ');
  return printableLine(what === '' ? l10n.t('waits at {0}', place) : l10n.t('waits at {0}: {1}', place, what));
}

/** `9:12`: how long it still waits. @param now milliseconds. */
export function holdLeft({ frozen: { until } }: FrozenJob, now: number): string {
  const seconds = Math.max(0, Math.ceil((Date.parse(until) - now) / 1000));
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60];
  const parts = hours > 0 ? [hours, minutes, seconds % 60] : [minutes, seconds % 60];
  return parts.map((part, index) => (index === 0 ? String(part) : String(part).padStart(2, '0'))).join(':');
}
