import { formatMicros } from '../../../core/text/format.ts';
import type { NodeRun, RunStep } from '../state/runOverlay.ts';

/** `850 tok`, `8.1k tok`. */
export function tokensText(tokens: number): string {
  return tokens < 1_000 ? `${tokens} tok` : `${(tokens / 1_000).toFixed(tokens < 99_950 ? 1 : 0)}k tok`;
}

/** `$0.0042`: US dollars, two digits that count. */
export function costText(dollars: number): string {
  return dollars >= 0.995 ? `$${dollars.toFixed(2)}` : `$${Number(dollars.toPrecision(2))}`;
}

/** What the corner of a node says: `×3 · 1.2 s`. */
export function visitsText({ visits, micros, state }: NodeRun): string {
  const time = state === 'running' && micros === 0 ? '' : formatMicros(micros);
  return [visits > 1 ? `×${visits}` : '', time].filter(Boolean).join(' · ');
}

/** What the corner of a node says below: `8.1k tok · $0.02`. */
export function usageText({ tokens, cost }: NodeRun): string {
  return [tokens > 0 ? tokensText(tokens) : '', cost === undefined ? '' : costText(cost)].filter(Boolean).join(' · ');
}

/** A step in one line. */
export function stepText({ label, visit, micros, action, message, isReplayed }: RunStep): string {
  const what = message === undefined ? `→ ${action ?? 'default'}` : `failed: ${message}`;
  return `${label}${visit > 1 ? ` (visit ${visit})` : ''} ${what} · ${formatMicros(micros)}${isReplayed ? ' · replayed' : ''}`;
}
