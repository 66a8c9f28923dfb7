import { printableLine } from '../../core/text/printable.ts';
import { adviseOn } from '../../jobs/page/advice.ts';
import type { JobPage } from '../../jobs/page/jobPage.ts';
import { isActive, isOver, type JobRecord } from '../../jobs/ledger/record.ts';
import { describeFacts, describeFiles, metricPlots, type PagePlot, usagePlots } from '../../jobs/page/pageText.ts';
import { describePhase } from '../../jobs/page/timeline.ts';
import type { PageAction, ShownPage, ShownPlot } from '../../webview/jobPage/messages.ts';

// More plots than anyone looks at, and few enough to draw each second.
const MAX_METRICS = 40;

/** What the page of a job shows. @param account the response of `GET /v1/me`. @param now milliseconds. */
export function viewOf(page: JobPage, record: JobRecord, account: unknown, now: number): ShownPage {
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
    facts: describeFacts(record, now),
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
