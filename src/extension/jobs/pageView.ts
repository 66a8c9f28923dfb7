import { printableLine } from '../../core/text/printable.ts';
import { adviseOn } from '../../jobs/page/advice.ts';
import type { JobPage } from '../../jobs/page/jobPage.ts';
import { isActive, isOver, type JobRecord } from '../../jobs/ledger/record.ts';
import { describeFacts, describeFiles, metricPlots, type PagePlot, usagePlots } from '../../jobs/page/pageText.ts';
import { describePhase } from '../../jobs/page/timeline.ts';
import { describeLastSeen, type LostContact } from '../store/lostContacts.ts';
import type { PageAction, ShownPage, ShownPlot } from '../../webview/jobPage/messages.ts';

// More plots than anyone looks at, and few enough to draw each second.
const MAX_METRICS = 40;

interface PageContext {
  /** The response of `GET /v1/me`. */
  readonly account: unknown;
  /** Milliseconds. */
  readonly now: number;
  /** Set while the service of a running job cannot be asked. Times and costs are those of the last contact. */
  readonly lost?: LostContact | undefined;
}

/** What the page of a job shows. */
export function viewOf(page: JobPage, record: JobRecord, { account, now: today, lost }: PageContext): ShownPage {
  const isLost = lost !== undefined && !isOver(record);
  const now = isLost ? lost.since : today;
  const state = isLost ? describeLastSeen(record, lost) : record.state;
  const plotOf =
    (axis: ShownPlot['axis']) =>
    ({ name, text, series }: PagePlot): ShownPlot => ({
      name,
      text,
      axis,
      points: series.points.map(([x, y]) => [x, Number.isFinite(y) ? y : null]),
    });
  const metrics = metricPlots(page, MAX_METRICS);
  return {
    type: 'page',
    facts: describeFacts(record, now).map(([name, value]) => [name, name === 'state' ? state : value]),
    actions: actionsOf(record),
    timeline: page.timeline.phases(record, now).map((phase) => printableLine(describePhase(phase))),
    plots: [...usagePlots(page).map(plotOf('time')), ...metrics.map(plotOf('step'))],
    otherMetrics: page.metrics.size - metrics.length,
    output: page.output.lines,
    results: describeFiles(page) ?? null,
    advice: adviseOn(record, page.usage, account)?.sentence ?? null,
  };
}

/** What can be done with the job now. */
function actionsOf(record: JobRecord): readonly PageAction[] {
  return [
    'showLog',
    ...(isActive(record) ? (['cancelJob'] as const) : []),
    ...(isOver(record) ? (['browseResults', 'downloadResults'] as const) : []),
    'compareSubmitted',
    'resubmitJob',
  ];
}
