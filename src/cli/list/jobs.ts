import { shownScript } from '../../jobs/selection/script.ts';
import { formatCount, formatDuration } from '../../core/text/format.ts';
import { messageOf } from '../../core/errors.ts';
import { refreshJob } from '../../jobs/log/refreshJob.ts';
import { elapsedSeconds, isActive, isWaiting, type JobRecord, recordName } from '../../jobs/ledger/record.ts';
import { job as wireJob } from '../../remote/protocol/schemas.ts';
import type { Context } from '../command/context.ts';
import { Session } from '../session/session.ts';
import { settleUnanswered } from '../session/unansweredSubmit.ts';
import { costColumns, rowCost } from '../command/costColumns.ts';
import { answerTable, formatAge, type RecordColumn } from '../command/recordTable.ts';

const REFRESH_TIMEOUT_SECONDS = 10;
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

/** `farwharf jobs`: the jobs of this service in the ledger, with the current state of the running ones. JSON: `{ jobs: [...] }`, newest first. */
export async function listJobs(context: Context, _: string, { limit }: { limit: number }): Promise<void> {
  await using session = new Session(context);
  const { terminal } = context;
  const known = session.ledger.list({ host: session.host, limit });
  const records = await refresh(session, known, context);
  if (terminal.json({ jobs: records.map(recordAsJson) })) return;

  answerTable(terminal, columns(records, Date.now(), terminal.answerColumns === undefined), records, {
    none: `No jobs on ${session.hostName} yet.`,
    hint: 'Submit a folder:  farwharf submit FOLDER --script FILE',
  });
  for (const line of describeOtherHosts(session)) terminal.phase(line);
}

/** A record with the field names of `/v1`, and fields that only the ledger has. */
function recordAsJson(record: JobRecord): object {
  return Object.fromEntries(JSON_FIELDS.map((name) => [name, Reflect.get(record, recordName(name))]));
}

/** The current states of the jobs that had not ended, `lost` for those that the service no longer has; the last known states, with a note, if the service does not respond. */
async function refresh(session: Session, known: readonly JobRecord[], context: Context): Promise<readonly JobRecord[]> {
  const { signal, terminal } = context;
  const records = await settleUnanswered(session, context, known);
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
