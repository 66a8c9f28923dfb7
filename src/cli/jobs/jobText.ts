import { formatCount } from '../../core/text/format.ts';
import { printableLine } from '../../core/text/printable.ts';
import { padToWidth } from '../../core/text/textWidth.ts';
import type { JobRecord } from '../../jobs/ledger/record.ts';
import type { Advice } from '../../jobs/report/advice.ts';
import type { JobPage } from '../../jobs/report/jobPage.ts';
import { describeFacts, describeFiles, metricPlots, type PageLine, usagePlots } from '../../jobs/report/pageText.ts';
import { describePhase } from '../../jobs/report/jobTimeline.ts';
import { jobArgument } from '../command/jobArgument.ts';
import type { SeriesPoint } from '../../jobs/metrics/series.ts';

const PLOT_CELLS = 32;
const MAX_METRICS = 20;
const NAME_CELLS = 16;
const BARS = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
const GAP = ' ';

interface ShownJob {
  readonly record: JobRecord;
  readonly page: JobPage;
  readonly advice: Advice | undefined;
}

/** The lines of a job's page, each with its label. What is unknown has none. @param now milliseconds. */
export function describeJobPage({ record, page, advice }: ShownJob, now: number): readonly PageLine[] {
  const phases = page.timeline.phases(record, now);
  const files = describeFiles(page);
  return [
    ...describeFacts(record, record.state, now),
    ...labelled(
      'timeline',
      phases.map((phase) => `${timeOf(phase.at)} ${describePhase(phase)}`),
    ),
    ...usagePlots(page).map(
      ({ name, series, text }): PageLine => [name, `${plot(sparkline(series.points, PLOT_CELLS, 0))} ${text}`],
    ),
    ...labelled('metrics', describeMetrics(page)),
    ...labelled('results', files === undefined ? [] : [files, `farwharf download ${jobArgument(record.jobId ?? '')}`]),
    ...labelled('advice', advice === undefined ? [] : [advice.sentence]),
  ];
}

function labelled(label: string, values: readonly string[]): readonly PageLine[] {
  return values.map((value, index) => [index === 0 ? label : '', printableLine(value)]);
}

function describeMetrics(page: JobPage): readonly string[] {
  const shown = metricPlots(page, MAX_METRICS).map(
    ({ name, series, text }) => `${plot(sparkline(series.points, PLOT_CELLS))} ${padToWidth(name, NAME_CELLS)} ${text}`,
  );
  const rest = page.metrics.size - shown.length;
  return rest > 0 ? [...shown, `and ${formatCount(rest, 'metric')} more: use --json`] : shown;
}

function plot(bars: string): string {
  return bars.padEnd(PLOT_CELLS);
}

/** `2026-01-01T10:40:02Z`. */
function timeOf(at: string): string {
  return new Date(at).toISOString().replace(/\.\d+/, '');
}

/**
 * A series as a line of bars, one for each part of its range of positions: the mean of the finite values in it. A part without points
 * continues the one before, and one without finite values is a gap.
 *
 * @param points in the order of their positions. @param width in cells. @param floor the value of the lowest bar; the lowest value if
 *   absent. @returns an empty text if no value is finite.
 */
export function sparkline(points: readonly SeriesPoint[], width: number, floor?: number): string {
  const values = resample(points, width);
  const finite = values.filter(Number.isFinite);
  if (finite.length === 0) return '';
  const low = floor ?? Math.min(...finite);
  const range = Math.max(...finite) - low;
  const barOf = (value: number): string => {
    const height = range > 0 ? (value - low) / range : 0;
    return Number.isFinite(value) ? (BARS[Math.round(height * (BARS.length - 1))] ?? GAP) : GAP;
  };
  return values.map(barOf).join('');
}

/** The mean value in each cell; as many cells as points if there are fewer. */
function resample(points: readonly SeriesPoint[], width: number): readonly number[] {
  const [first, last] = [points[0]?.[0] ?? 0, points.at(-1)?.[0] ?? 0];
  const cells = Math.min(width, points.length);
  // Steps may be repeated or go back, as after a restart of training.
  const cellOf = ([x]: SeriesPoint, index: number): number => {
    const part = last > first ? (x - first) / (last - first) : index / points.length;
    return Math.max(0, Math.min(cells - 1, Math.floor(part * cells)));
  };
  const groups = Map.groupBy(points.keys(), (index) => cellOf(points[index] ?? [0, 0], index));
  const values: number[] = [];
  for (let cell = 0; cell < cells; cell += 1) {
    const group = groups.get(cell)?.map((index) => points[index]?.[1] ?? Number.NaN);
    values.push(group === undefined ? (values.at(-1) ?? Number.NaN) : meanOf(group.filter(Number.isFinite)));
  }
  return values;
}

/** NaN for no values. */
function meanOf(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}
