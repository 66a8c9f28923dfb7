import { html } from 'hono/html';
import { formatDuration } from '../../../core/text/format.ts';
import { printableLine } from '../../../core/text/printable.ts';
import type { StoredJob } from '../../store/jobs/jobTable.ts';
import { costTitle, shownCost, shownName, shownRuntime, shownState, shownTime } from './tableCells.ts';
import { document, facts, type Html, note } from './documentLayout.ts';

/** A part of a job's output. */
export interface OutputPart {
  /** Clean text; empty without output. */
  readonly text: string;
  /** The first event of this part if there are events before it. */
  readonly earlier: number | undefined;
}

export interface JobOfPage {
  readonly who: string;
  readonly job: StoredJob;
  readonly log: OutputPart;
  /** Whether the log is shown to its end. */
  readonly isLastPart: boolean;
}

/** One job with a part of its output. @param now milliseconds since 1970. */
export function jobView({ who, job, log, isLastPart }: JobOfPage, now: number): Html {
  const pairs: [string, string | Html][] = [
    ['State', shownState(job.state)],
    ['Project', job.project === null ? '–' : shownName(job.project)],
    ['Machine class', shownName(job.machineClass)],
    ['Submitted (UTC)', shownTime(job.createdAt)],
    ['Started (UTC)', shownTime(job.startedAt)],
    ['Ended (UTC)', shownTime(job.finishedAt)],
    ['Run time', shownRuntime(job, now)],
    ['Time limit', formatDuration(job.maxRuntime)],
    [costTitle([job]), shownCost(job, now)],
    ...(job.exitCode === null ? [] : ([['Exit code', String(job.exitCode)]] as [string, string][])),
    ['Job ID', job.id],
  ];
  const address = `/jobs/${job.id}`;
  const body = html`${job.reason !== null && note(printableLine(job.reason), job.state === 'failed')} ${facts(pairs)}
    <h2>${isLastPart ? 'Output, last part' : 'Output, earlier part'}</h2>
    ${log.text.trim() === '' ? html`<p class="quiet">${emptyText(job, log, isLastPart)}</p>` : html`<div class="${isLastPart ? 'log ends' : 'log'}" tabindex="0" role="region" aria-label="Output"><pre>${log.text}</pre></div>`}
    <nav class="pages" aria-label="Parts of the output">
      ${log.earlier !== undefined && html`<a href="${address}?before=${log.earlier}">Earlier output</a>`}
      ${isLastPart ? job.finishedAt === null && html`<a href="${address}">Reload</a>` : html`<a href="${address}">Last part</a>`}
      <a href="/">All jobs</a>
    </nav>`;
  return document({ title: shownName(job.script), who, body });
}

function emptyText({ finishedAt }: StoredJob, { earlier }: OutputPart, isLastPart: boolean): string {
  if (!isLastPart || earlier !== undefined) return 'This part has no output.';
  return finishedAt === null
    ? 'The job has written nothing yet.'
    : 'The job wrote nothing, or its output was deleted because of its age.';
}
