import { setTimeout as sleep } from 'node:timers/promises';
import { AppError, messageOf } from '../../core/errors.ts';
import { httpStatus, type JobService } from '../service/api.ts';
import { isStale, patchFromJob } from './progress.ts';
import { isOver, type JobRecord } from '../ledger/record.ts';
import type { Recorder } from './recorder.ts';
import { ReplayFilter } from './replay.ts';
import type { EventSpool, SpooledEvent } from './spool.ts';

// When the job is over, a log that brings nothing more from a service that answers is worth a few attempts, but not endless ones.
const ATTEMPTS_AFTER_END = 5;
const GAP_TEXT =
  'The connection was lost and the service does not number its events: lines may be missing or doubled here.';

type StreamSource = Pick<JobService, 'getJob' | 'streamEvents'>;

export interface StreamDeps {
  readonly service: StreamSource;
  readonly spool: EventSpool;
  /** Gives the service anew after it could not be reached: the embedded one comes back on another port. */
  reconnect?(signal: AbortSignal): Promise<StreamSource>;
}

type StreamEnd =
  | { readonly type: 'ended' } // by an `end` event
  | { readonly type: 'closed' } // by the service, without one
  | { readonly type: 'broken'; readonly error: unknown };

/** Streams a job into the recorder until it is over, through any number of connections. */
export async function streamToEnd(
  deps: StreamDeps,
  recorder: Recorder,
  { signal, retryDelaysMs }: { signal: AbortSignal; retryDelaysMs: readonly number[] },
): Promise<JobRecord> {
  let { service } = deps;
  let failures = 0;
  let attemptsAfterEnd = 0;
  for (;;) {
    const { end, received, added } = await streamOnce(service, deps.spool, recorder, signal);
    const answer = await ask(service, recorder, signal);
    if (end.type === 'ended') return recorder.record;
    if (answer === 'gone') return finish(deps.spool, recorder);
    // An end that nobody announced is the end of the log once nothing was left to read: it may be the network's.
    if (added > 0) attemptsAfterEnd = 0;
    else if (isOver(recorder.record) && answer === 'answered') {
      if (end.type === 'closed') return finish(deps.spool, recorder);
      attemptsAfterEnd += 1;
      if (attemptsAfterEnd >= ATTEMPTS_AFTER_END) {
        await recorder.note('gap', `The rest of the log could not be read: ${messageOf(end.error)}`);
        return finish(deps.spool, recorder);
      }
    }
    if (received > 0) failures = 0;
    await sleep(retryDelaysMs[Math.min(failures, retryDelaysMs.length - 1)], undefined, { signal });
    failures += 1;
    if (answer === 'unreachable' && deps.reconnect !== undefined) {
      service = await deps.reconnect(signal).catch(() => service);
    }
  }
}

/**
 * One connection: how it ended, how many events it brought, and how many of them are surely new, by their numbers.
 *
 * @throws on abort, on a refused key and when the spool cannot be written; everything else is in the result.
 */
async function streamOnce(
  service: StreamSource,
  spool: EventSpool,
  recorder: Recorder,
  signal: AbortSignal,
): Promise<{ end: StreamEnd; received: number; added: number }> {
  const lastEventId = (await spool.tail()).findLast((event) => event.own !== true && event.id !== undefined)?.id;
  const filter = new ReplayFilter(serviceEvents(spool), lastEventId);
  let received = 0;
  let added = 0;
  let end: StreamEnd = { type: 'closed' };
  try {
    const options = { signal, ...(lastEventId !== undefined && { lastEventId }) };
    for await (const { event, data, id } of service.streamEvents(jobIdOf(recorder), options)) {
      received += 1;
      const verdict = await filter.judge({ event, data, ...(id !== undefined && { id }) });
      if (verdict === 'gap') await recorder.note('gap', GAP_TEXT);
      if (verdict !== 'skip') {
        if (isNumbered(id)) added += 1;
        await recorder.push({ event, data, ...(id !== undefined && { id }) });
      }
      if (event === 'end') {
        end = { type: 'ended' };
        break;
      }
    }
  } catch (error) {
    signal.throwIfAborted();
    rethrowFinal(error);
    end = { type: 'broken', error };
  } finally {
    await filter.dispose();
    await recorder.flush();
  }
  return { end, received, added };
}

/** Brings the record up to date with what the service says of the job. @throws on abort and on a refused key. */
async function ask(
  service: StreamSource,
  recorder: Recorder,
  signal: AbortSignal,
): Promise<'answered' | 'gone' | 'unreachable'> {
  let job: unknown;
  try {
    job = await service.getJob(jobIdOf(recorder), { signal });
  } catch (error) {
    signal.throwIfAborted();
    rethrowFinal(error);
    const status = httpStatus(error);
    if (status !== 404 && status !== 410) return 'unreachable';
    if (!isOver(recorder.record)) {
      await recorder.apply({ state: 'lost', reason: 'the service no longer knows this job' });
    }
    return 'gone';
  }
  const patch = patchFromJob(job);
  if (!isStale(patch, recorder.record)) await recorder.apply(patch);
  return 'answered';
}

/** Closes the log of a job whose service sent no `end`, so that every reader of the spool knows. */
async function finish(spool: EventSpool, recorder: Recorder): Promise<JobRecord> {
  // The log can be whole although the record was not: the disk was full in between.
  if ((await spool.tail()).some(({ event }) => event === 'end')) return recorder.record;
  const { state, exitCode, creditsCharged, reason } = recorder.record;
  const data = { state, exit_code: exitCode, credits_charged: creditsCharged, reason };
  await recorder.push({ event: 'end', data, own: true });
  await recorder.flush();
  return recorder.record;
}

/** Other ids may be new in each replay. */
function isNumbered(id: string | undefined): boolean {
  return id !== undefined && /^\d{1,15}$/.test(id);
}

async function* serviceEvents(spool: EventSpool): AsyncGenerator<SpooledEvent, void> {
  for await (const event of spool.read()) if (event.own !== true) yield event;
}

// A key that is refused now will be refused again, and a full disk does not become empty by waiting.
function rethrowFinal(error: unknown): void {
  const status = httpStatus(error);
  if (status === 401 || status === 403 || error instanceof AppError) throw error;
}

function jobIdOf({ record }: Recorder): string {
  if (record.jobId === null) throw new AppError('missing', 'The service never told the id of this job.');
  return record.jobId;
}
