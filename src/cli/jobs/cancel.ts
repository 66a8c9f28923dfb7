import { patchFromJob } from '../../jobs/log/jobPatch.ts';
import { isUnpriced } from '../../jobs/ledger/record.ts';
import { isFinalState } from '../../remote/protocol/states.ts';
import type { Context } from '../command/context.ts';
import { Session } from '../session/session.ts';

/** `farwharf cancel ID`: stops a job. JSON: the service's own response. */
export async function cancel(context: Context, name: string): Promise<void> {
  await using session = new Session(context);
  const { terminal, signal } = context;
  const { jobId, record } = session.resolveJob(name);
  const answer = await session.ask(name, (client) => client.cancel(jobId, { signal }));
  const updated = record && session.ledger.update(record.id, patchFromJob(answer));
  const isFree = updated !== undefined && isUnpriced(updated);
  if (!terminal.json(answer)) terminal.answer(`Job ${jobId} ${describeAnswer(answer['state'], isFree)}`);
}

/** The rest of a sentence about the job. A job that had already ended was not stopped. */
function describeAnswer(state: unknown, isFree: boolean): string {
  if (typeof state === 'string' && state !== 'cancelled' && isFinalState(state)) {
    return `had already ended: ${state.replaceAll('_', ' ')}.`;
  }
  return `${state === 'cancelled' ? 'was' : 'is being'} stopped.${isFree ? '' : ' You pay for the time that it ran.'}`;
}
