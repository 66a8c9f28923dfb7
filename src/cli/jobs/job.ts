import { formatCredits, formatDuration } from '../../core/text/format.ts';
import { printableLine } from '../../core/text/printable.ts';
import type { Job } from '../../remote/protocol/schemas.ts';
import type { Context } from '../command/context.ts';
import { Session } from './session.ts';

/** `farwharf job ID`: one job, from the service. JSON: the service's own job object. */
export async function showJob(context: Context, name: string): Promise<void> {
  await using session = new Session(context);
  const { terminal, signal } = context;
  const { jobId, record } = session.resolveJob(name);
  const job = await session.ask(name, (client) => client.getJob(jobId, { signal }));
  if (terminal.json(job)) return;
  for (const [label, value] of describeJobFields(job, record?.folder)) {
    if (value !== undefined) terminal.answer(`${label.padEnd(9)} ${value}`);
  }
}

function describeJobFields(job: Job, folder: string | undefined): [string, string | undefined][] {
  const text = (value: string | null | undefined): string | undefined => (value ? printableLine(value) : undefined);
  const limit = job.max_runtime ?? undefined;
  const exitCode = job.exit_code ?? undefined;
  return [
    ['job', text(job.job_id)],
    ['state', text(job.state)],
    ['reason', text(job.reason)],
    ['exit', exitCode === undefined ? undefined : String(exitCode)],
    ['script', text(job.script)],
    ['project', text(job.project)],
    ['folder', text(folder)],
    ['machine', text(job.machine_class)],
    ['limit', limit === undefined ? undefined : formatDuration(limit)],
    ['sent', text(job.created_at)],
    ['started', text(job.started_at)],
    ['finished', text(job.finished_at)],
    ['credits', describeMoney(job)],
  ];
}

function describeMoney({ credits_charged: charged, credit_hold: hold }: Job): string | undefined {
  if (typeof charged === 'number') return `${formatCredits(charged)} charged`;
  return typeof hold === 'number' ? `${formatCredits(hold)} held` : undefined;
}
