import type { Context } from '../command/context.ts';
import { describeEnd, exitOfWatched, showLog, noteDetached } from './jobLog.ts';
import { findJobPlace } from '../session/jobPlace.ts';
import { Session } from '../session/session.ts';

/** `farwharf watch ID`: shows the log live until the job ends. JSON: a line for each event. */
export async function watch(context: Context, name: string): Promise<number> {
  await using session = new Session(context);
  const { terminal, signal } = context;
  await using place = await findJobPlace(session, name, signal);
  const { jobId } = place.record;
  const watched = await showLog(place, session, { ...context, signal: context.outputSignal });
  if (watched.type === 'detached') noteDetached(terminal, jobId);
  else terminal.note(describeEnd(watched, jobId));
  return exitOfWatched(watched);
}
