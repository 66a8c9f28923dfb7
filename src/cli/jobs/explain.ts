import { detailsReader } from '../../jobs/failure/failureDetails.ts';
import { failureContext } from '../../jobs/failure/failureContext.ts';
import { failureAsJson } from '../../jobs/failure/failureJson.ts';
import { failurePage } from '../../jobs/failure/failurePage.ts';
import { patchFromJob } from '../../jobs/log/jobPatch.ts';
import type { Context } from '../command/context.ts';
import { findJobPlace } from '../session/jobPlace.ts';
import { Session } from '../session/session.ts';

/** `farwharf explain ID`: why a job failed, as a Markdown page. JSON: the same as data, as the tool `explain_failure` returns it. */
export async function explain(context: Context, name: string): Promise<void> {
  await using session = new Session(context);
  const { terminal, signal } = context;
  await using place = await findJobPlace(session, name, signal);
  const { jobId } = place.record;
  const job = await session.ask(name, (client) => client.getJob(jobId, { signal }));
  const record = { ...place.record, ...patchFromJob(job), jobId };
  const { ledger, home } = place;
  const service = await session.client();
  const sources = { service, home, details: detailsReader({ ledger, home }, signal) };
  const failure = await failureContext(sources, record, signal);
  if (!terminal.json(failureAsJson(failure))) terminal.answerText(failurePage(failure).trimEnd());
}
