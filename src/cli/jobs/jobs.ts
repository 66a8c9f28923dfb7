import { formatCount, formatDuration, formatCredits } from '../../core/text/format.ts';
import { messageOf } from '../../core/errors.ts';
import { printableLine } from '../../core/text/printable.ts';
import { elapsedSeconds } from '../../jobs/describe.ts';
import { costSoFar } from '../../jobs/submit/estimate.ts';
import { patchFromJob } from '../../jobs/log/progress.ts';
import { isActive, type JobRecord } from '../../jobs/ledger/record.ts';
import type { Context } from '../command/context.ts';
import { EXIT } from '../command/exit.ts';
import { Session } from './session.ts';
import { settleUnanswered } from './unansweredSubmit.ts';
import { type Column, formatTable } from '../terminal/table.ts';

const REFRESH_TIMEOUT_SECONDS = 10;
const COLUMNS: readonly Column[] = [
  { title: 'STATE' },
  { title: 'SCRIPT', minWidth: 6 },
  { title: 'MACHINE', dropOrder: 1 },
  { title: 'TIME', align: 'right', dropOrder: 3 },
  { title: 'CREDITS', align: 'right', dropOrder: 2 },
  { title: 'SENT', dropOrder: 4 },
  { title: 'ID' },
];
// Enough of our ID to name a job that has no ID of its service yet.
const SHORT_ID = 8;

/** `farwharf jobs`: the jobs of this service in the ledger, with the current state of the running ones. JSON: `{ jobs: [...] }`, newest first. */
export async function listJobs(context: Context, _: string, { limit }: { limit: number }): Promise<number> {
  await using session = new Session(context);
  const { terminal } = context;
  const known = session.ledger.list({ host: session.host, limit });
  const records = await refresh(session, known, context);
  terminal.json({ jobs: records.map(recordAsJson) });
  if (terminal.isJson) return EXIT.done;

  if (records.length === 0) {
    terminal.answer(`No jobs on ${session.hostName} yet.`);
    terminal.note('Submit a folder:  farwharf submit FOLDER --script FILE');
  } else {
    const now = Date.now();
    const width = terminal.answerColumns;
    const rows = records.map((record) => describeRow(record, now, width === undefined));
    for (const line of formatTable(COLUMNS, rows, width)) terminal.answer(line);
  }
  for (const line of describeOtherHosts(session)) terminal.phase(line);
  return EXIT.done;
}

/** A record with the field names of `/v1`, and the fields that only this machine knows. */
function recordAsJson(record: JobRecord): object {
  return {
    job_id: record.jobId,
    state: record.state,
    script: record.script,
    project: record.project,
    machine_class: record.machineClass,
    max_runtime: record.maxRuntime,
    created_at: record.createdAt,
    started_at: record.startedAt,
    finished_at: record.finishedAt,
    exit_code: record.exitCode,
    credit_hold: record.creditHold,
    credits_charged: record.creditsCharged,
    reason: record.reason,
    folder: record.folder,
    host: record.host,
    git_commit: record.gitCommit,
    downloaded_at: record.downloadedAt,
  };
}

/** The current states of the jobs that had not ended; the last known states, with a note, when the service does not respond. */
async function refresh(session: Session, known: readonly JobRecord[], context: Context): Promise<readonly JobRecord[]> {
  const { signal, terminal } = context;
  const records = await settleUnanswered(session, context, known);
  if (!records.some(isActive)) return records;
  try {
    const client = await session.client();
    return await Promise.all(
      records.map(async (record) => {
        if (record.jobId === null || !isActive(record)) return record;
        const job = await client.getJob(record.jobId, { signal, timeout: REFRESH_TIMEOUT_SECONDS });
        return session.ledger.update(record.id, patchFromJob(job));
      }),
    );
  } catch (error) {
    signal.throwIfAborted();
    terminal.note(`Running jobs show their last known state. ${messageOf(error)}`);
    return records;
  }
}

function describeRow(record: JobRecord, now: number, hasRoom: boolean): string[] {
  const seconds = elapsedSeconds(record, now);
  const cost = costSoFar(record, now);
  return [
    record.state,
    printableLine(record.script),
    printableLine(record.machineClass ?? ''),
    seconds === null ? '' : formatDuration(seconds),
    cost === null ? '' : formatCredits(cost),
    `${formatDuration(Math.max(0, now - Date.parse(record.createdAt)) / 1000)} ago`,
    record.jobId ?? (hasRoom ? record.id : record.id.slice(0, SHORT_ID)),
  ];
}

function describeOtherHosts(session: Session): string[] {
  const others = session.ledger.list({}).filter(({ host }) => host !== session.host);
  return [...Map.groupBy(others, ({ host }) => host)].map(
    ([host, { length }]) => `${formatCount(length, 'job')} on ${host === 'local' ? 'this machine' : host}.`,
  );
}
