import { AppError } from '../../core/errors.ts';
import { formatBytes, formatCredits, formatDuration, formatMeasured } from '../../core/text/format.ts';
import { describeHours, hoursOf } from '../../core/text/machineHours.ts';
import type { AdminJob, AdminJobDetails } from '../../service/admin/jobOperations.ts';
import type { Admin } from '../../service/admin/adminClient.ts';
import { isFinalState } from '../../remote/protocol/states.ts';
import type { Context } from '../command/commandContext.ts';
import { describeFailure, EXIT } from '../command/exit.ts';
import { answerTable, formatAge, type RecordColumn } from '../command/recordTable.ts';
import { isDay, periodMs } from './days.ts';
import type { AdminFlags, CancelFlags, JobsFlags } from './adminFlags.ts';
import { askAdmin, findAdmin } from './adminService.ts';

const LABEL_WIDTH = 12;
const MAX_PAGE = 1_000;
const SHOWN_WAITING = 0.05;
const UNFINISHED_STATES = ['queued', 'starting', 'running'] as const;
const STOPPED_NOTE =
  'The service is not running. If the job runs, it stops now; if it waits, it will not start. The next start of the service records its end.';
const COLUMNS: readonly RecordColumn<AdminJob>[] = [
  { title: 'ID', cell: (job) => job.job_id },
  { title: 'ACCOUNT', cell: (job) => job.account_id },
  { title: 'STATE', cell: ({ state }) => state.replaceAll('_', ' ') },
  { title: 'SCRIPT', cell: ({ script }) => script, minWidth: 6, dropOrder: 6 },
  { title: 'PROJECT', cell: ({ project }) => project ?? '', minWidth: 6, dropOrder: 2 },
  { title: 'MACHINE', cell: (job) => job.machine_class, dropOrder: 1 },
  { title: 'TIME', cell: timeOf, align: 'right', dropOrder: 4 },
  {
    title: 'CREDITS',
    cell: (job) => formatCredits(job.credits_charged ?? job.credit_hold),
    align: 'right',
    dropOrder: 3,
  },
  { title: 'SENT', cell: (job) => formatAge(job.created_at), dropOrder: 5 },
];

/** `farwharf admin jobs`: the jobs of all accounts, newest first. JSON: `{ jobs: [...], next }`. */
export async function listServiceJobs(context: Context, _: string, flags: JobsFlags): Promise<void> {
  const { terminal } = context;
  const { account, state, project, machineClass, since, before, limit } = flags;
  const page = await askAdmin(context, flags, 'jobs.list', {
    account_id: account,
    state,
    project,
    machine_class: machineClass,
    since: since && parseSince(since, Date.now()),
    before,
    limit,
  });
  if (page === undefined) return;
  answerTable(terminal, COLUMNS, page.jobs, { none: 'No such jobs.' });
  if (page.next !== null) terminal.note(`There are more. Add:  --before ${page.next}`);
}

/** `farwharf admin job ID`: everything about one job. JSON: the job. */
export async function showServiceJob(context: Context, id: string, flags: AdminFlags): Promise<void> {
  const job = await askAdmin(context, flags, 'jobs.show', { job_id: id });
  if (job === undefined) return;
  for (const [label, value] of describe(job)) context.terminal.answer(`${label.padEnd(LABEL_WIDTH)} ${value}`);
}

/**
 * `farwharf admin cancel ID…`, or `--account`: stops jobs of any account, even if another one could not be stopped. JSON: `{ jobs: [...] }`, each with an
 * `error` if it could not be stopped.
 */
export async function cancelAnyJobs(
  context: Context,
  first: string,
  flags: CancelFlags,
  rest: readonly string[],
): Promise<number> {
  const { terminal } = context;
  const answers: object[] = [];
  let exit: number = EXIT.done;
  using admin = await findAdmin(context, flags);
  const named = [first, ...rest].filter((id) => id !== '');
  if ((named.length === 0) === (flags.account === undefined)) {
    throw new AppError('bad-input', 'Specify the jobs, or all jobs of an account with --account ACCOUNT.');
  }
  const ids = flags.account === undefined ? named : await unfinishedJobs(admin, flags.account);
  for (const id of ids) {
    try {
      const job = await admin.call('jobs.cancel', { job_id: id, reason: flags.reason });
      answers.push(job);
      terminal.answer(`Job ${id} of ${job.account_id} ${describeCancel(job)}`);
      if (!admin.isServiceRunning && !isFinalState(job.state)) terminal.note(STOPPED_NOTE);
    } catch (error) {
      const { code, message, exit: failed } = describeFailure(error);
      answers.push({ job_id: id, error: { code, message } });
      terminal.note(message);
      exit = failed;
    }
  }
  terminal.json({ jobs: answers });
  return exit;
}

/** The IDs of an account's unfinished jobs, those that wait first, so that none of them starts meanwhile. */
async function unfinishedJobs(admin: Admin, account: string): Promise<readonly string[]> {
  const ids: string[] = [];
  for (const state of UNFINISHED_STATES) {
    let before: string | undefined;
    do {
      const page = await admin.call('jobs.list', { account_id: account, state, before, limit: MAX_PAGE });
      ids.push(...page.jobs.map(({ job_id: id }) => id));
      before = page.next ?? undefined;
    } while (before !== undefined);
  }
  return ids;
}

/** The rest of a sentence about the job. */
function describeCancel({ state }: AdminJob): string {
  if (state === 'cancelled') return 'is cancelled.';
  if (isFinalState(state)) return `had already ended: ${state.replaceAll('_', ' ')}.`;
  return 'is being stopped.';
}

function connectionOf(one: AdminJobDetails['connections'][number]): string {
  const who = `${one.account_id}, ${one.key_id ?? "the service's own key"}, ${one.client ?? 'unknown client'}`;
  return `${who}, since ${one.since}, ${formatBytes(one.sent_bytes)} in, ${formatBytes(one.received_bytes)} out`;
}

/** What is known about a job, each with its label. */
function describe(job: AdminJobDetails): readonly (readonly [string, string])[] {
  const gpus = job.usage?.gpus ?? null;
  const { credits_charged: charged, credit_hold: hold, runner_pid: pid, files_removed_at: removedAt } = job;
  const credits =
    charged === null ? `${formatCredits(hold)} held` : `${formatCredits(charged)} charged of ${formatCredits(hold)}`;
  const lines: readonly (readonly [string, string | number | null])[] = [
    ['job', job.job_id],
    ['account', `${job.account_id} (${job.account_name})`],
    ['key', job.key_id ?? "the service's own"],
    ['state', job.state.replaceAll('_', ' ')],
    ['reason', job.reason],
    ['exit code', job.exit_code],
    ['script', job.script],
    ['project', job.project],
    ['machine', job.machine_class],
    ['submitted', job.created_at],
    ['started', job.started_at],
    ['ended', job.finished_at],
    ['time', timeOf(job) || null],
    ['time limit', formatDuration(job.max_runtime)],
    ['credits', job.unpriced_cpus === null ? credits : null],
    ['used', usedBy(job)],
    ['cores', coresOf(job.usage)],
    ['memory', bytesOrNull(job.usage?.memory_bytes ?? null)],
    ['GPUs', gpus === null ? null : formatMeasured(gpus)],
    ['disk', bytesOrNull(job.disk_bytes || null)],
    ...job.connections.map((one): readonly [string, string] => ['connected', connectionOf(one)]),
    ['executor ID', job.executor_id],
    ['runner', pid === null ? null : `process ${pid}`],
    ['files', removedAt === null ? job.folder : `deleted at ${removedAt}`],
  ];
  return lines.flatMap(([label, value]) => (value === null ? [] : [[label, String(value)] as const]));
}

/** `0.35 in use on average; 0.6 more threads were ready but had no core`. */
function coresOf(usage: AdminJobDetails['usage']): string | null {
  if (usage === null || usage.cpu_cores === null) return null;
  const waiting = usage.cpu_waiting ?? 0;
  const more = waiting < SHOWN_WAITING ? '' : `; ${formatMeasured(waiting)} more threads were ready but had no core`;
  return `${formatMeasured(usage.cpu_cores)} in use on average${more}`;
}

function bytesOrNull(bytes: number | null): string | null {
  return bytes === null ? null : formatBytes(bytes);
}

/** How long a job has run so far, or ran in total. */
function timeOf(job: AdminJob): string {
  const seconds = secondsOf(job);
  return seconds === null ? '' : formatDuration(seconds);
}

/** `4 core-hours` for a job on a machine class without a price. */
function usedBy(job: AdminJob): string | null {
  const { unpriced_cpus: cpus, unpriced_gpus: gpus } = job;
  return cpus === null ? null : describeHours(hoursOf({ cpus, gpus: gpus ?? 0 }, secondsOf(job) ?? 0)) || null;
}

function secondsOf({ started_at: startedAt, finished_at: finishedAt }: AdminJob): number | null {
  if (startedAt === null) return null;
  const end = finishedAt === null ? Date.now() : Date.parse(finishedAt);
  return Math.max(0, end - Date.parse(startedAt)) / 1000;
}

/** The start of a day (UTC), or a time before now. @throws AppError `bad-input`. */
function parseSince(text: string, now: number): string {
  const period = periodMs(text);
  if (period !== undefined) return new Date(now - period).toISOString();
  if (isDay(text)) return `${text}T00:00:00Z`;
  throw new AppError(
    'bad-input',
    `Invalid value "${text}" for --since. Enter a day such as 2027-01-31, or a period such as 12h or 7d.`,
  );
}
