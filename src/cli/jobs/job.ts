import { resolve } from 'node:path';
import { messageOf } from '../../core/errors.ts';
import { browseResults } from '../../jobs/results/browse.ts';
import { BrowsedResults } from '../../jobs/results/browsedResults.ts';
import type { JobService } from '../../jobs/service/api.ts';
import { isOver, isUnpriced, type JobRecord, shortId } from '../../jobs/ledger/record.ts';
import { currentEvents } from '../../jobs/log/currentEvents.ts';
import { patchFromJob } from '../../jobs/log/jobPatch.ts';
import { EventSpool } from '../../jobs/log/spool.ts';
import type { SeriesData, SeriesPoint } from '../../jobs/metrics/series.ts';
import { USAGE_NAMES } from '../../jobs/metrics/usageSeries.ts';
import { type Advice, adviseOn } from '../../jobs/report/advice.ts';
import { JobPage } from '../../jobs/report/jobPage.ts';
import { findRate } from '../../jobs/plan/estimate.ts';
import { receivedJob } from '../../remote/protocol/schemas.ts';
import type { Context } from '../command/commandContext.ts';
import { findJobPlace, recordOfForeign } from '../command/jobPlace.ts';
import { Session } from '../command/session.ts';
import { isFinalState } from '../../remote/protocol/states.ts';
import { addJob } from '../../jobs/log/addJob.ts';
import { jobArgument } from '../command/jobArgument.ts';
import { detailsReader } from '../../jobs/failure/failureDetails.ts';
import { failureContext } from '../../jobs/failure/failureContext.ts';
import { failureAsJson } from '../../jobs/failure/failureJson.ts';
import { failurePage } from '../../jobs/failure/failurePage.ts';
import { formatCount } from '../../core/text/format.ts';
import { printableLine } from '../../core/text/printable.ts';
import { padToWidth } from '../../core/text/textWidth.ts';
import { describeFacts, describeFiles, metricPlots, type PageLine, usagePlots } from '../../jobs/report/pageText.ts';
import { describePhase } from '../../jobs/report/jobTimeline.ts';

const ACCOUNT_TIMEOUT_SECONDS = 10;
// Results of this size are downloaded for the metrics in them.
const MOST_FETCHED_BYTES = 20_000_000;
const PLOT_CELLS = 32;
const MAX_METRICS = 20;
const NAME_CELLS = 16;
const BARS = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
const GAP = ' ';

interface AddFlags {
  readonly folder: string;
}

interface ShownJob {
  readonly record: JobRecord;
  readonly page: JobPage;
  readonly advice: Advice | undefined;
}

/**
 * `farwharf job ID`: one job: its state, what it went through, its cost, what it uses, its metrics and results. JSON: the service's own
 * job object, with the rest added.
 */
export async function printJob(context: Context, name: string): Promise<void> {
  await using session = new Session(context);
  const { terminal, signal } = context;
  const { jobId, record: known } = session.resolveJob(name);
  const job = await session.ask(name, (client) => client.getJob(jobId, { signal }));
  const service = await session.client();
  // A service without an account still has jobs.
  const account = await service.me({ signal, timeout: ACCOUNT_TIMEOUT_SECONDS }).catch(() => undefined);
  // The timeline must not begin with an unknown time.
  const foreign = { ...recordOfForeign(job, session.host, jobId), createdAt: receivedJob.parse(job).created_at ?? '' };
  const latest = { ...(known ?? foreign), ...patchFromJob(job) };
  const rate = findRate(account, latest.machineClass ?? undefined);
  const record: JobRecord = { ...latest, creditsPerMinute: latest.creditsPerMinute ?? rate?.creditsPerMinute ?? null };
  const page = new JobPage();
  try {
    const spool = new EventSpool(session.home, record.id);
    for await (const event of currentEvents({ service, spool, jobId }, signal)) page.push(event);
  } catch (error) {
    signal.throwIfAborted();
    terminal.note(`The events of this job could not be read, so its page is incomplete. ${messageOf(error)}`);
  }
  try {
    if (known !== undefined) await addFileMetrics(page, { service, home: session.home, record }, signal);
  } catch (error) {
    signal.throwIfAborted();
    terminal.note(`The metrics in the results of this job could not be read. ${messageOf(error)}`);
  }
  const now = Date.now();
  const advice = adviseOn(record, page.usage, account);
  if (
    terminal.json({ ...job, folder: known?.folder ?? null, ...pageAsJson(page, record, now), advice: advice ?? null })
  )
    return;
  for (const [label, value] of describeJobPage({ record, page, advice }, now)) {
    terminal.answer(`${label.padEnd(9)} ${value}`);
  }
}

/** Adds the metrics in a job's results. Downloads those if they are small. */
async function addFileMetrics(
  page: JobPage,
  { service, home, record }: { readonly service: JobService; readonly home: string; readonly record: JobRecord },
  signal: AbortSignal,
): Promise<void> {
  const { bytes } = page.results;
  if (!page.hasMetricFiles || !isOver(record)) return;
  const browsed = new BrowsedResults(home);
  if ((await browsed.summary(record.id)) === undefined && bytes > MOST_FETCHED_BYTES) return;
  await browseResults({ service, home, browsed }, record, { signal });
  page.addFileMetrics(await browsed.metrics(record.id));
}

/** Positions of usage are milliseconds since 1970, those of metrics are steps. Numbers that are not finite become null. */
function pageAsJson({ timeline, usage, metrics, results }: JobPage, record: JobRecord, now: number): object {
  const measured = USAGE_NAMES.map((name) => [name, usage.get(name)] as const);
  return {
    timeline: timeline.phases(record, now),
    usage: measured.flatMap(([name, series]) => (series === undefined ? [] : [seriesAsJson(name, series)])),
    metrics: [...metrics].map(([name, series]) => seriesAsJson(name, series)),
    results: { count: results.count, bytes: results.bytes, first: results.first },
  };
}

function seriesAsJson(name: string, { count, last, min, max, points }: SeriesData): object {
  return { name, count, last, min: min ?? null, max: max ?? null, points };
}

/** `farwharf cancel ID`: stops a job. JSON: the service's own response. */
export async function cancel(context: Context, name: string): Promise<void> {
  await using session = new Session(context);
  const { terminal, signal } = context;
  const { jobId, record } = session.resolveJob(name);
  const answer = await session.ask(name, (client) => client.cancel(jobId, { signal }));
  const updated = record && session.ledger.update(record.id, patchFromJob(answer));
  const isFree = updated !== undefined && isUnpriced(updated);
  if (!terminal.json(answer)) terminal.answer(`Job ${jobId} ${describeCancelled(answer['state'], isFree)}`);
}

/** The rest of a sentence about a job that was cancelled. A job that had already ended was not stopped. */
export function describeCancelled(state: unknown, isFree: boolean): string {
  if (typeof state === 'string' && state !== 'cancelled' && isFinalState(state)) {
    return `had already ended: ${state.replaceAll('_', ' ')}.`;
  }
  return `${state === 'cancelled' ? 'was' : 'is being'} stopped.${isFree ? '' : ' You pay for the time that it ran.'}`;
}

/** `farwharf add ID`: adds a job that was sent from elsewhere to the list. JSON: `{ id, job_id, state, script }`. */
export async function add(context: Context, name: string, { folder }: AddFlags): Promise<void> {
  await using session = new Session(context);
  const { terminal, cwd, signal } = context;
  const job = { host: session.host, jobId: name, folder: resolve(cwd, folder) };
  const record = await addJob({ ledger: session.asyncLedger, service: session.sender() }, job, signal);
  const { id, jobId, state, script } = record;
  if (terminal.json({ id, job_id: jobId, state, script })) return;
  terminal.answer(`Job ${shortId(record)} (${script}) was added to your list: ${state}.`);
  terminal.note(`Show its log:  farwharf watch ${jobArgument(shortId(record))}`);
}

/** `farwharf explain ID`: why a job failed, as a Markdown page. JSON: the same as data, as the tool `explain_failure` returns it. */
export async function explainJob(context: Context, name: string): Promise<void> {
  await using session = new Session(context);
  const { terminal, signal } = context;
  await using place = await findJobPlace(session, name, signal);
  const { jobId } = place.record;
  const job = await session.ask(name, (client) => client.getJob(jobId, { signal }));
  const record = { ...place.record, ...patchFromJob(job), jobId };
  const { ledger, home } = place;
  const service = await session.client();
  const sources = { service, home, details: detailsReader({ ledger, home }, signal) };
  const failure = await failureContext(sources, record, signal);
  if (!terminal.json(failureAsJson(failure))) terminal.answerText(failurePage(failure).trimEnd());
}

/** The lines of a job's page, each with its label. What is unknown has none. @param now milliseconds. */
function describeJobPage({ record, page, advice }: ShownJob, now: number): readonly PageLine[] {
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
  const plots = metricPlots(page, MAX_METRICS).map(
    ({ name, series, text }) => `${plot(sparkline(series.points, PLOT_CELLS))} ${padToWidth(name, NAME_CELLS)} ${text}`,
  );
  const rest = page.metrics.size - plots.length;
  return rest > 0 ? [...plots, `and ${formatCount(rest, 'metric')} more: use --json`] : plots;
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
