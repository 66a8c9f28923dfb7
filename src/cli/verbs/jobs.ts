import { formatCount, formatDuration, formatCredits } from '../../core/format.ts';
import { messageOf } from '../../core/errors.ts';
import { plainText } from '../../core/terminalText.ts';
import { elapsedSeconds } from '../../jobs/describe.ts';
import { costSoFar } from '../../jobs/estimate.ts';
import { patchFromJob } from '../../jobs/progress.ts';
import { isActive, type JobRecord } from '../../jobs/record.ts';
import type { Context } from '../context.ts';
import { EXIT } from '../exit.ts';
import { Session } from '../session.ts';
import { formatTable } from '../table.ts';

const REFRESH_TIMEOUT_SECONDS = 10;
const HEADER = ['STATE', 'SCRIPT', 'MACHINE', 'TIME', 'CREDITS', 'SENT', 'ID'];

/** `farwharf jobs`: what the ledger knows of the jobs on this service, running ones asked anew. JSON: a line for each record. */
export async function listJobs(context: Context, _: string, { limit }: { limit: number }): Promise<number> {
  await using session = new Session(context);
  const { terminal } = context;
  const known = session.ledger.list({ host: session.host, limit });
  const records = await refresh(session, known, context);
  for (const record of records) terminal.json(record);
  if (terminal.isJson) return EXIT.done;

  if (records.length === 0) {
    terminal.answer(`No jobs were sent to ${session.hostName} yet.`);
    terminal.note('Send a folder:  farwharf submit FOLDER --script FILE');
  } else {
    const now = Date.now();
    const rows = records.map((record) => describeRow(record, now));
    for (const line of formatTable(HEADER, rows, [3, 4])) terminal.answer(line);
  }
  for (const line of describeOtherHosts(session)) terminal.phase(line);
  return EXIT.done;
}

/** The true states of the jobs that were not over when they were last heard of; the old ones, and a remark, when nobody answers. */
async function refresh(
  session: Session,
  records: readonly JobRecord[],
  { signal, terminal }: Context,
): Promise<readonly JobRecord[]> {
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
    terminal.note(`The states of running jobs are the last known ones: ${plainText(messageOf(error))}`);
    return records;
  }
}

function describeRow(record: JobRecord, now: number): string[] {
  const seconds = elapsedSeconds(record, now);
  const cost = costSoFar(record, now);
  return [
    record.state,
    plainText(record.script),
    plainText(record.machineClass ?? ''),
    seconds === null ? '' : formatDuration(seconds),
    cost === null ? '' : formatCredits(cost),
    `${formatDuration(Math.max(0, now - Date.parse(record.createdAt)) / 1000)} ago`,
    record.jobId ?? record.id,
  ].map((cell) => cell.replaceAll('\n', ' '));
}

function describeOtherHosts(session: Session): string[] {
  const others = session.ledger.list({}).filter(({ host }) => host !== session.host);
  return [...Map.groupBy(others, ({ host }) => host)].map(
    ([host, { length }]) => `${formatCount(length, 'job')} on ${host === 'local' ? 'this machine' : host}.`,
  );
}
