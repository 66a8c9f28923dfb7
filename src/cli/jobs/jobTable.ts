import { shownScript } from '../../jobs/selection/script.ts';
import { formatCount, formatDuration } from '../../core/text/format.ts';
import { AppError, messageOf } from '../../core/errors.ts';
import { fieldOf } from '../../core/jsonFields.ts';
import { reportedRecord } from '../../jobs/log/addJob.ts';
import { patchFromJob } from '../../jobs/log/jobPatch.ts';
import { refreshJob } from '../../jobs/log/refreshJob.ts';
import { elapsedSeconds, isActive, isWaiting, type JobRecord, recordName } from '../../jobs/ledger/record.ts';
import { classifyFailure } from '../../core/network/classifyFailure.ts';
import { acceptedJobId, job as wireJob } from '../../remote/protocol/schemas.ts';
import type { Context } from '../command/commandContext.ts';
import { jobArgument } from '../command/jobArgument.ts';
import { Session } from '../command/session.ts';
import { settleUnanswered } from '../command/unansweredSubmit.ts';
import { costColumns, rowCost } from '../command/costColumns.ts';
import { answerTable, formatAge, type RecordColumn } from '../command/recordTable.ts';

const REFRESH_TIMEOUT_SECONDS = 10;
// The most that a service lists at once.
const MAX_PAGE = 100;
// Enough of our ID to identify a job that has no ID from its service yet.
const SHORT_ID = 8;
const JSON_FIELDS = [
  ...Object.keys(wireJob.shape),
  'folder',
  'host',
  'git_commit',
  'results',
  'downloaded_at',
  'waiting',
];

/** @param hasRoom whether the output is not a terminal, so that IDs need not be short. */
function columns(records: readonly JobRecord[], now: number, hasRoom: boolean): readonly RecordColumn<JobRecord>[] {
  const orNothing = (value: number | null, format: (value: number) => string): string =>
    value === null ? '' : format(value);
  return [
    { title: 'STATE', cell: (job) => (isWaiting(job) ? 'waiting' : job.state) },
    { title: 'SCRIPT', cell: ({ script }) => shownScript(script), minWidth: 6 },
    { title: 'MACHINE', cell: ({ machineClass }) => machineClass ?? '', dropOrder: 1 },
    { title: 'TIME', cell: (job) => orNothing(elapsedSeconds(job, now), formatDuration), align: 'right', dropOrder: 3 },
    ...costColumns(records, (job) => rowCost(job, now), 2),
    { title: 'SENT', cell: ({ createdAt }) => formatAge(createdAt), dropOrder: 4 },
    { title: 'ID', cell: ({ id, jobId }) => jobId ?? (hasRoom ? id : id.slice(0, SHORT_ID)) },
  ];
}

interface JobsFlags {
  readonly limit: number;
  readonly all: boolean;
}

/**
 * `farwharf jobs`: the jobs of this service in the ledger, with the current state of the running ones; `--all`: those that the service
 * lists.
 * JSON: `{ jobs: [...] }`, newest first; `folder` is null for a job that is not in the ledger.
 */
export async function listJobs(context: Context, _: string, { limit, all }: JobsFlags): Promise<void> {
  await using session = new Session(context);
  const { terminal } = context;
  const records = all
    ? await accountJobs(session, limit, context)
    : await refreshRecords(session, session.ledger.list({ host: session.host, limit }), context);
  if (terminal.json({ jobs: records.map(recordAsJson) })) return;

  answerTable(terminal, columns(records, Date.now(), terminal.answerColumns === undefined), records, {
    none: all ? `No jobs of the account on ${session.hostName} yet.` : `No jobs on ${session.hostName} yet.`,
    hint: all
      ? 'Submit a folder:  farwharf submit FOLDER --script FILE'
      : 'Submit a folder:  farwharf submit FOLDER --script FILE. Jobs that were sent from elsewhere:  farwharf jobs --all',
  });
  const elsewhere = records.filter(isElsewhere);
  const first = elsewhere[0]?.jobId ?? null;
  if (first !== null) {
    const were = elsewhere.length === 1 ? '1 job was' : `${formatCount(elsewhere.length, 'job')} were`;
    terminal.note(`${were} submitted elsewhere. Add one to your list:  farwharf add ${jobArgument(first)}`);
  }
  for (const line of describeOtherHosts(session)) terminal.phase(line);
}

/** The newest jobs of the account, as its service lists them; those that are in the ledger with what it knows about them. */
async function accountJobs(session: Session, limit: number, { signal }: Context): Promise<readonly JobRecord[]> {
  const client = await session.client();
  const records = new Map<string, JobRecord>();
  for (;;) {
    const [last] = [...records.keys()].slice(-1);
    const { size } = records;
    const page = await client
      .listJobs(
        { limit: Math.min(limit - records.size, MAX_PAGE), ...(last !== undefined && { before: last }) },
        { timeout: REFRESH_TIMEOUT_SECONDS, signal },
      )
      .catch((error: unknown) => {
        if (classifyFailure(error) !== 'missing') throw error;
        throw new AppError('missing', `${session.hostName} does not list the jobs of an account.`, { cause: error });
      });
    for (const report of page) {
      // An ID that is not a plain name cannot be used in a command.
      const { data: jobId } = acceptedJobId.safeParse(fieldOf(report, 'job_id'));
      if (jobId === undefined) continue;
      const ledgerRecord = session.ledger.findJob(session.host, jobId);
      const record = ledgerRecord ?? reportedRecord(report, { host: session.host, jobId, folder: '' });
      records.set(jobId, { ...record, ...patchFromJob(report) });
    }
    // A service that repeats itself adds none.
    if (page.length < MAX_PAGE || records.size >= limit || records.size === size) {
      return [...records.values()].slice(0, limit);
    }
  }
}

/** Whether the ledger has no record of a job that the service has listed. */
function isElsewhere({ folder }: JobRecord): boolean {
  return folder === '';
}

/** A record with the field names of `/v1`, and fields that only the ledger has. */
function recordAsJson(record: JobRecord): object {
  const fields = Object.fromEntries(JSON_FIELDS.map((name) => [name, Reflect.get(record, recordName(name))]));
  return isElsewhere(record) ? { ...fields, folder: null } : fields;
}

/** The current states of the jobs that had not ended, `lost` for those that the service no longer has; the last known states, with a note, if the service does not respond. */
export async function refreshRecords(
  session: Session,
  ledgerRecords: readonly JobRecord[],
  context: Context,
): Promise<readonly JobRecord[]> {
  const { signal, terminal } = context;
  const records = await settleUnanswered(session, context, ledgerRecords);
  if (!records.some(isActive)) return records;
  try {
    const service = await session.client();
    const deps = { ledger: session.asyncLedger, service, timeoutSeconds: REFRESH_TIMEOUT_SECONDS };
    return await Promise.all(
      records.map(async (record) => (isActive(record) ? refreshJob(deps, record, signal) : record)),
    );
  } catch (error) {
    signal.throwIfAborted();
    terminal.note(`Running jobs show their last known state. ${messageOf(error)}`);
    return records;
  }
}

function describeOtherHosts(session: Session): string[] {
  const others = session.ledger.list({}).filter(({ host }) => host !== session.host);
  return [...Map.groupBy(others, ({ host }) => host)].map(
    ([host, { length }]) => `${formatCount(length, 'job')} on ${host === 'local' ? 'this machine' : host}.`,
  );
}
