import * as l10n from '@vscode/l10n';
import { formatNumber, plural } from '../../core/text/format.ts';
import { readWaitingReason, type WaitingReason } from '../../remote/protocol/waitingReason.ts';

const NEAR_MS = 20 * 3_600_000;

/**
 * What a queued job waits for: `waits for 1 GPU: 2 of 2 in use, the first free by 15:20`, in the language and the time zone of this
 * computer; undefined if the reason says something else. @param now milliseconds.
 */
export function describeWaiting(reason: string | null, now: number): string | undefined {
  const waiting = reason === null ? undefined : readWaitingReason(reason, now);
  if (waiting === undefined) return undefined;
  const amount = amountText(waiting);
  switch (waiting.type) {
    case 'in-use':
      return l10n.t(
        'waits for {0}: {1} of {2} in use, the first free by {3}',
        amount,
        formatNumber(waiting.used),
        formatNumber(waiting.of),
        timeText(waiting.freeAt, now),
      );
    case 'absent':
      return l10n.t('waits for {0}: the machine has {1} now', amount, formatNumber(waiting.of));
    case 'kept':
      return l10n.t('waits for {0}: kept for a job before it', amount);
    case 'behind':
    default:
      return l10n.t('waits for {0}: others wait before it', amount);
  }
}

/** Whether two reasons are about the same resource, so that the later one only has newer figures. */
export function isSameWait(one: string | null, other: string | null, now: number): boolean {
  const [first, second] = [one, other].map((reason) => (reason === null ? undefined : readWaitingReason(reason, now)));
  return first !== undefined && first.resource === second?.resource;
}

function amountText({ resource, needed }: WaitingReason): string {
  if (resource === 'memory') return l10n.t('{0} GB of memory', formatNumber(needed));
  if (resource === 'gpus') return plural(needed, l10n.t('1 GPU'), l10n.t('{0} GPUs'));
  return plural(needed, l10n.t('1 core'), l10n.t('{0} cores'));
}

function timeText(at: number, now: number): string {
  const time = { hour: '2-digit', minute: '2-digit' } as const;
  const day = at - now < NEAR_MS ? {} : ({ day: 'numeric', month: 'short' } as const);
  return new Date(at).toLocaleString(l10n.t('en-GB'), { ...day, ...time });
}
