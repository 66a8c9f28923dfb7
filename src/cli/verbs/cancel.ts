import { patchFromJob } from '../../jobs/progress.ts';
import type { Context } from '../context.ts';
import { EXIT } from '../exit.ts';
import { Session } from '../session.ts';

/** `farwharf cancel ID`: stops a job. JSON: the service's own answer. */
export async function cancel(context: Context, name: string): Promise<number> {
  await using session = new Session(context);
  const { terminal, signal } = context;
  const { jobId, record } = session.resolveJob(name);
  const answer = await session.ask(name, (client) => client.cancel(jobId, { signal }));
  if (record !== undefined) session.ledger.update(record.id, patchFromJob(answer));
  terminal.json(answer);
  if (!terminal.isJson) terminal.answer(`Job ${jobId} is being stopped. You pay for the time that it ran.`);
  return EXIT.done;
}
