import * as l10n from '@vscode/l10n';
import { formatDollars, formatMicros, formatShort } from '../../../core/text/format.ts';
import type { NodeState } from '../../../flows/run/protocol/nodeState.ts';
import { microsOf, type ModelUsage, type TimelineStep } from '../../../flows/run/protocol/timelineStep.ts';

/** `850 tok`, `8.1k tok`. */
export function tokensText(tokens: number): string {
  return l10n.t({ message: '{0} tok', args: [formatShort(tokens)], comment: ['tokens, abbreviated'] });
}

/** What the upper corner of a node shows: `×3 · 1.2 s`. */
export function visitsText({ visits, micros, status }: NodeState): string {
  const time = status === 'running' && micros === 0 ? '' : formatMicros(micros);
  return [visits > 1 ? `×${visits}` : '', time].filter(Boolean).join(' · ');
}

/** `8.1k tok · $0.02`; empty if no tokens were counted and no price is known. */
export function usageText({ inputTokens, outputTokens, cost }: ModelUsage): string {
  const tokens = inputTokens + outputTokens;
  return [tokens > 0 ? tokensText(tokens) : '', cost > 0 ? formatDollars(cost) : ''].filter(Boolean).join(' · ');
}

/** A step in one line. */
export function stepText(step: TimelineStep): string {
  const { node, visit, action, error, isReplayed, status } = step;
  const done = status === 'waiting' ? l10n.t('waits for an answer') : `→ ${action ?? 'default'}`;
  const what = error === undefined ? done : l10n.t('failed: {0}', error);
  const name = visit > 1 ? l10n.t('{0} (visit {1})', node, visit) : node;
  return `${name} ${what} · ${formatMicros(microsOf(step))}${isReplayed ? ` · ${l10n.t('replayed')}` : ''}`;
}
