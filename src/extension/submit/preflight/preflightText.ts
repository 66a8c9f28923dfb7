import * as l10n from '@vscode/l10n';
import { formatBytes, formatCredits, formatDuration, formatInteger, plural } from '../../../core/text/format.ts';
import { type CostEstimate, describeEstimate, describeMost, type Price } from '../../../jobs/plan/estimate.ts';
import { EXCLUSION_REASONS } from '../../../jobs/selection/exclusions.ts';
import type { ExclusionGroup, SelectedFolder } from '../../../jobs/selection/selectedFolder.ts';

const NAMED = 3;

/** `41 files, 3.2 MB will be sent. At most 6 credits of 312.` */
export function headline({ fileCount, totalBytes }: SelectedFolder, estimate: CostEstimate): string {
  const amount =
    fileCount === 1
      ? l10n.t('1 file, {0} will be sent.', formatBytes(totalBytes))
      : l10n.t('{1} files, {0} will be sent.', formatBytes(totalBytes), formatInteger(fileCount));
  return `${amount} ${describeEstimate(estimate)}`;
}

/** `Largest: data.bin 2.1 MB, model.pt 800 KB`; empty for an empty selection. */
export function largestSentence({ largest }: Pick<SelectedFolder, 'largest'>): string {
  const named = largest.slice(0, NAMED).map(({ path, size }) => `${path} ${formatBytes(size)}`);
  return named.length === 0 ? '' : l10n.t('Largest: {0}', named.join(', '));
}

/** `2 secrets (.env, key.pem) · 3 ignored by git`: the number of paths for each reason, secrets first and with their names. */
export function exclusionSentence(groups: readonly ExclusionGroup[]): string {
  return groups.map(groupSentence).join(' · ');
}

function groupSentence({ reason, count, paths }: ExclusionGroup): string {
  if (reason !== 'secret') return `${count} ${EXCLUSION_REASONS[reason]}`;
  return `${plural(count, l10n.t('1 secret'), l10n.t('{0} secrets'))} (${paths.join(', ')}${count > paths.length ? ', …' : ''})`;
}

const UNITS: Readonly<Record<string, number>> = { s: 1, m: 60, min: 60, h: 3600, d: 86_400 };

/** Seconds of `90`, `90 s`, `45 min`, `2h`, `1 h 30 min`; undefined for anything else. A bare number is minutes. */
export function parseTimeLimit(text: string): number | undefined {
  const clean = text.trim().toLowerCase();
  if (/^\d{1,9}$/.test(clean)) return Number(clean) * 60 || undefined;
  const parts = [...clean.matchAll(/(\d{1,9}(?:\.\d{1,6})?)\s*(min|[smhd])\s*/g)];
  if (parts.length === 0 || parts.map(([part]) => part).join('') !== clean) return undefined;
  const seconds = parts.reduce((sum, [, value, unit = '']) => sum + Number(value) * (UNITS[unit] ?? 0), 0);
  return Math.round(seconds) || undefined;
}

/** Suggested time limits, each with its highest cost. */
export function timeLimitOffers(price: Price | undefined): { seconds: number; label: string; cost: string }[] {
  return [300, 900, 1800, 3600, 4 * 3600, 12 * 3600, 24 * 3600].map((seconds) => ({
    seconds,
    label: formatDuration(seconds),
    cost: price === undefined ? '' : describeMost(price, seconds),
  }));
}

/** `0.6 credits a minute · at most 36 in 1 h` or `up to 4 core-hours in 1 h` for so many seconds. */
export function rateText(rate: Price, seconds: number): string {
  const time = formatDuration(seconds);
  if (rate.creditsPerMinute === null) {
    const hours = describeMost(rate, seconds);
    return hours === '' ? l10n.t('no price') : l10n.t('{0} in {1}', hours, time);
  }
  const highest = formatCredits((rate.creditsPerMinute * seconds) / 60);
  return l10n.t('{0} credits a minute · at most {1} in {2}', formatCredits(rate.creditsPerMinute), highest, time);
}
