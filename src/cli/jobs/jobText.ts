import { formatCount } from '../../core/text/format.ts';
import { printableLine } from '../../core/text/printable.ts';
import { padToWidth } from '../../core/text/textWidth.ts';
import type { JobRecord } from '../../jobs/ledger/record.ts';
import type { Advice } from '../../jobs/report/advice.ts';
import type { JobPage } from '../../jobs/report/jobPage.ts';
import { describeFacts, describeFiles, metricPlots, type PageLine, usagePlots } from '../../jobs/report/pageText.ts';
import { describePhase } from '../../jobs/report/jobTimeline.ts';
import { sparkline } from '../terminal/sparkline.ts';
import { jobArgument } from '../command/jobArgument.ts';

const PLOT_CELLS = 32;
const MAX_METRICS = 20;
const NAME_CELLS = 16;

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
