import { AppError } from '../../core/errors.ts';
import type { JobRecord } from '../../jobs/ledger/record.ts';
import { settleEarlier } from '../../jobs/send/settle.ts';
import { confirm } from './confirm.ts';
import type { Context } from './commandContext.ts';
import type { Session } from './session.ts';
import { jobArgument } from './jobArgument.ts';

/**
 * Asks the service, by their keys, whether earlier submits without a response have arrived, and reports each result.
 *
 * @returns the current records.
 */
export async function settleUnanswered(
  session: Session,
  { terminal, signal }: Context,
  records: readonly JobRecord[],
): Promise<readonly JobRecord[]> {
  const deps = { service: session.sender(), ledger: session.asyncLedger };
  const settled: JobRecord[] = [];
  for (const record of records) {
    const now = record.state === 'unknown' ? await settleEarlier(deps, record, { signal }) : record;
    if (now.state !== record.state) terminal.note(describeSettled(now, session));
    settled.push(now);
  }
  return settled;
}

/**
 * Asks before a folder is sent again if its last submit got no response, because that job may be running. Without a terminal, only
 * `--again` sends it. Earlier submits whose outcome is still unknown are then removed from the list.
 *
 * @throws AppError `outcome-unknown` if the folder is not to be sent, `conflict` if the earlier job exists.
 */
export async function checkUnanswered(
  session: Session,
  context: Context,
  { folder, again }: { folder: string; again: boolean },
): Promise<void> {
  const unanswered = session.ledger.list({ host: session.host, folder, state: 'unknown' });
  const settled = await settleUnanswered(session, context, unanswered);
  const running = settled.find(({ jobId }) => jobId !== null);
  const unknown = settled.filter(({ state }) => state === 'unknown');
  const [last] = unknown;
  if (!again && running !== undefined) {
    const acceptance = `The submit of ${running.script} at ${timeOf(running)} got no response, but the service accepted it as job ${running.jobId}.`;
    if (!(await confirm(`${acceptance} Send the folder again?`, context))) {
      const hint = `Watch it:  farwharf watch ${jobArgument(running.jobId ?? '')}`;
      throw new AppError(
        'conflict',
        `${acceptance} Nothing was sent now. ${hint}. To send the folder again, use --again.`,
      );
    }
  } else if (!again && last !== undefined) {
    if (!(await confirm(`${describe(last, session)} Send the folder again?`, context))) {
      const sentence = `${describe(last, session)} Nothing was sent now. Check the service first. To send the folder again, use --again.`;
      throw new AppError('outcome-unknown', sentence);
    }
  }
  for (const { id } of unknown) session.ledger.remove(id);
}

function describe(record: JobRecord, { hostName }: Session): string {
  return `The submit of ${record.script} at ${timeOf(record)} got no response from ${hostName}, so that job may be running.`;
}

function describeSettled(record: JobRecord, { hostName }: Session): string {
  const submit = `The submit of ${record.script} at ${timeOf(record)} got no response`;
  return record.jobId === null
    ? `${submit} and did not reach ${hostName}: no job exists.`
    : `${submit}, but the service accepted it as job ${record.jobId}.`;
}

function timeOf({ createdAt }: JobRecord): string {
  return new Date(createdAt).toLocaleString('sv-SE');
}
