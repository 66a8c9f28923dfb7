import { formatMeasured } from '../../core/text/format.ts';
import { printableLine } from '../../core/text/printable.ts';
import { adviseOn } from '../../jobs/report/advice.ts';
import type { JobPage } from '../../jobs/report/jobPage.ts';
import { stateWord } from '../../jobs/ledger/jobIcon.ts';
import { isActive, isOver, type JobRecord, shortId } from '../../jobs/ledger/record.ts';
import { describeFacts, describeFiles, metricPlots, type PagePlot, usagePlots } from '../../jobs/report/pageText.ts';
import { describeJob } from '../../jobs/report/describeJob.ts';
import { isDebuggable, isFrozen } from '../../jobs/report/frozenText.ts';
import { describePhase } from '../../jobs/report/jobTimeline.ts';
import { describeLastSeen, type LostContact } from './store/lostContacts.ts';
import { startedArguments, startedName } from '../../jobs/selection/script.ts';
import type { PageAction, ShownCurve, ShownPage, ShownPlot } from '../../webview/jobPage/jobPageMessages.ts';
import type { ComparedJob } from './comparedJobs.ts';
import type { PageLinks } from './pageLinks.ts';

// More plots than anyone reads, but few enough to redraw each second.
const MAX_METRICS = 40;

interface PageContext {
  /** The response of `GET /v1/me`. */
  readonly account: unknown;
  /** Jobs whose metrics are plotted beside those of this one. */
  readonly compared: readonly ComparedJob[];
  /** Milliseconds. */
  readonly now: number;
  readonly links: Pick<PageLinks, 'of'>;
  /** Set while the service of a running job cannot be asked. Times and costs are those of the last contact. */
  readonly lost?: LostContact | undefined;
}

/** What the page of a job shows. */
export function viewOf(page: JobPage, record: JobRecord, context: PageContext): ShownPage {
  const { account, compared, links, now: today, lost } = context;
  const isLost = lost !== undefined && !isOver(record);
  const now = isLost ? lost.since : today;
  const state = isLost
    ? describeLastSeen(record, lost)
    : isFrozen(record)
      ? describeJob(record, now)
      : stateWord(record.state);
  const metrics = metricPlots(page, MAX_METRICS);
  const metricPlot = (plot: PagePlot): ShownPlot => {
    const others = compared.map((other) => {
      const series = other.page.metrics.get(plot.name);
      return series === undefined ? null : curveOf({ text: formatMeasured(series.last), series });
    });
    return { name: plot.name, axis: 'step', ...curveOf(plot), others };
  };
  const usagePlot = (plot: PagePlot): ShownPlot => ({ name: plot.name, axis: 'time', ...curveOf(plot), others: [] });
  return {
    type: 'page',
    title: printableLine(startedName(record)),
    facts: describeFacts(record, state, now),
    actions: actionsOf(record),
    timeline: page.timeline.phases(record, now).map((phase) => printableLine(describePhase(phase))),
    plots: [...usagePlots(page).map(usagePlot), ...metrics.map(metricPlot)],
    compared: compared.map((other) => nameOf(other.record)),
    otherMetrics: page.metrics.size - metrics.length,
    output: page.output.lines.map((text) => ({
      text,
      links: links.of(text).map(({ start, end }) => ({ start, end })),
    })),
    results: describeFiles(page) ?? null,
    advice: adviseOn(record, page.usage, account)?.sentence ?? null,
  };
}

function curveOf({ text, series }: Pick<PagePlot, 'text' | 'series'>): ShownCurve {
  return { text, points: series.points.map(([x, y]) => [x, Number.isFinite(y) ? y : null]) };
}

/** `--lr 0.1 (3f2a)`: jobs that are compared mostly differ in their arguments. */
function nameOf(record: JobRecord): string {
  const what = startedArguments(record) || startedName(record);
  return printableLine(`${what} (${shortId(record)})`);
}

/** What can be done with the job now. */
function actionsOf(record: JobRecord): readonly PageAction[] {
  return [
    ...(isFrozen(record) ? (['attachDebugger', 'extendHold', 'giveUpDebugging'] as const) : []),
    'showLog',
    ...(isDebuggable(record) && !isFrozen(record) ? (['attachDebugger'] as const) : []),
    ...(isActive(record) ? (['cancelJob'] as const) : []),
    ...(record.state === 'running' ? (['openJobTerminal', 'browseRunningJob', 'openJobPort'] as const) : []),
    ...(isOver(record) ? (['browseResults', 'downloadResults'] as const) : []),
    'comparePlots',
    'compareSubmitted',
    'resubmitJob',
  ];
}
