import { resolve } from 'node:path';
import { shortId } from '../../jobs/ledger/record.ts';
import { addJob } from '../../jobs/log/addJob.ts';
import type { Context } from '../command/context.ts';
import { Session } from '../session/session.ts';
import { jobArgument } from '../command/jobArgument.ts';

interface AddFlags {
  readonly folder: string;
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
