import { formatBytes, formatCount, formatCredits, formatDuration } from '../../../core/text/format.ts';
import { type CostEstimate, describeEstimate } from '../../../jobs/submit/estimate.ts';
import { EXCLUSION_REASONS, groupExclusions } from '../../../jobs/submit/exclusions.ts';
import type { Exclusion, ExclusionReason, SelectedFile, Selection } from '../../../workspace/select/selection.ts';

const NAMED = 3;

/** `41 files, 3.2 MB will be sent. At most 6 credits of 312.` */
export function headline(selection: Selection, estimate: CostEstimate): string {
  const size = `${formatCount(selection.files.length, 'file')}, ${formatBytes(selection.totalBytes)}`;
  return `${size} will be sent. ${describeEstimate(estimate)}`;
}

/** The largest files first. */
export function largestFiles(files: readonly SelectedFile[], count: number): SelectedFile[] {
  return [...files].sort((a, b) => b.size - a.size || (a.path < b.path ? -1 : 1)).slice(0, count);
}

/** `Largest: data.bin 2.1 MB, model.pt 800 KB`; empty for an empty selection. */
export function largestSentence(files: readonly SelectedFile[]): string {
  if (files.length === 0) return '';
  return `Largest: ${largestFiles(files, NAMED)
    .map(({ path, size }) => `${path} ${formatBytes(size)}`)
    .join(', ')}`;
}

/** `2 secrets (.env, key.pem) · 3 ignored by git`: the number of paths per reason, secrets first and named. */
export function exclusionSentence(excluded: readonly Exclusion[]): string {
  return groupExclusions(excluded)
    .map(([reason, group]) => groupSentence(reason, group))
    .join(' · ');
}

function groupSentence(reason: ExclusionReason, group: readonly Exclusion[]): string {
  const names = group
    .slice(0, NAMED)
    .map(({ path }) => path)
    .join(', ');
  const more = group.length > NAMED ? ', …' : '';
  if (reason !== 'secret') return `${group.length} ${EXCLUSION_REASONS[reason]}`;
  return `${formatCount(group.length, 'secret')} (${names}${more})`;
}

const UNITS: Readonly<Record<string, number>> = { s: 1, m: 60, min: 60, h: 3600, d: 86_400 };

/** Seconds of `90`, `90 s`, `45 min`, `2h`, `1 h 30 min`; undefined for anything else. A bare number is minutes. */
export function parseTimeLimit(text: string): number | undefined {
  const clean = text.trim().toLowerCase();
  if (/^\d+$/.test(clean)) return Number(clean) * 60 || undefined;
  const parts = [...clean.matchAll(/(\d+(?:\.\d+)?)\s*(min|[smhd])\s*/g)];
  if (parts.length === 0 || parts.map(([part]) => part).join('') !== clean) return undefined;
  const seconds = parts.reduce((sum, [, value, unit = '']) => sum + Number(value) * (UNITS[unit] ?? 0), 0);
  return Math.round(seconds) || undefined;
}

/** Suggested time limits, each with its highest cost. */
export function timeLimitOffers(
  creditsPerMinute: number | undefined,
): { seconds: number; label: string; cost: string }[] {
  return [300, 900, 1800, 3600, 4 * 3600, 12 * 3600, 24 * 3600].map((seconds) => ({
    seconds,
    label: formatDuration(seconds),
    cost: creditsPerMinute === undefined ? '' : `at most ${formatCredits((creditsPerMinute * seconds) / 60)} credits`,
  }));
}
