import { AppError, messageOf } from '../../core/errors.ts';
import { classifyFailure, type RequestFailure } from '../../core/network/classifyFailure.ts';
import { type Backoff, backoffMs, Retries } from '../../core/retry.ts';
import { otherAccountError } from './otherAccount.ts';
import type { JobService } from '../service/api.ts';
import { stateOfWord } from '../../remote/protocol/spellings.ts';
import type { ContactWatch } from '../service/contactWatch.ts';
import { isStale, noteOf, patchFromJob } from './jobPatch.ts';
import { isOver, type JobRecord } from '../ledger/record.ts';
import type { Recorder } from './recorder.ts';
import { isSameEvent, ReplayFilter } from '../../remote/events/replay.ts';
import type { EventSpool, SpooledEvent } from './spool.ts';

// After the job has ended, reading the rest of its log from a service that responds is only retried a few times.
const ATTEMPTS_AFTER_END = 5;
// How many times in a row a service must close the stream of a job in an unknown state before the log says so.
const CLOSED_IN_UNKNOWN_STATE = 3;
// A refused key or a full disk does not get better by waiting.
const LASTING: ReadonlySet<RequestFailure> = new Set(['unauthorized', 'forbidden', 'local']);
const GAP_TEXT =
  'The connection was lost, and the service does not number its events: lines may be missing or repeated here.';

type StreamSource = Pick<JobService, 'getJob' | 'me' | 'streamEvents'>;

export interface StreamDeps {
  readonly service: StreamSource;
  readonly spool: EventSpool;
  /** Returns the service again after it could not be reached; the embedded one restarts on another port. */
  reconnect?(signal: AbortSignal): Promise<StreamSource>;
}

type StreamEnd =
  | { readonly type: 'ended' } // by an `end` event
  | { readonly type: 'closed' } // by the service, without one
  | { readonly type: 'broken'; readonly error: unknown };

/** Streams a job into the recorder until it has ended, over any number of connections. */
export async function streamToEnd(
  deps: StreamDeps,
  recorder: Recorder,
  {
    signal,
    backoff,
    onContact,
    contact,
  }: {
    signal: AbortSignal;
    backoff: Backoff;
    onContact: (isReachable: boolean) => void;
    contact: Pick<ContactWatch, 'returned'> | undefined;
  },
): Promise<JobRecord> {
  let { service } = deps;
  const retries = new Retries({ delayMs: (failures) => backoffMs(failures, backoff), signal });
  let attemptsAfterEnd = 0;
  let closedWithoutNews = 0;
  for (;;) {
    const { end, fresh, added } = await streamOnce(service, deps.spool, recorder, {
      signal,
      returned: contact?.returned,
    });
    const status = await updateRecord(service, recorder, signal);
    if (end.type === 'ended') return recorder.record;
    onContact(status !== 'unreachable');
    if (status === 'gone') return finish(deps.spool, recorder);
    // A stream that closes without an `end` event may be a network failure, unless there was nothing left to read.
    if (added > 0) attemptsAfterEnd = 0;
    else if (isOver(recorder.record) && status === 'updated') {
      if (end.type === 'closed') return finish(deps.spool, recorder);
      attemptsAfterEnd += 1;
      if (attemptsAfterEnd >= ATTEMPTS_AFTER_END) {
        await recorder.note('gap', `The rest of the log could not be read: ${messageOf(end.error)}`);
        return finish(deps.spool, recorder);
      }
    }
    closedWithoutNews = end.type === 'closed' && fresh === 0 ? closedWithoutNews + 1 : 0;
    if (closedWithoutNews === CLOSED_IN_UNKNOWN_STATE) await noteUnknownState(deps.spool, recorder);
    // A service that only repeats the log has nothing new.
    if (fresh > 0) retries.reset();
    await retries.wait();
    if (status !== 'unreachable') continue;
    if (deps.reconnect !== undefined) service = await deps.reconnect(signal).catch(() => service);
    // A job may print nothing for hours, so its stream does not show that the service is back.
    onContact((await updateRecord(service, recorder, signal)) !== 'unreachable');
  }
}

/**
 * Streams over one connection. Returns how it ended, how many events are not repeated, and how many of them are new by their numbers.
 *
 * @throws on abort, on a refused key and if the spool cannot be written; other failures are in the result.
 */
async function streamOnce(
  service: StreamSource,
  spool: EventSpool,
  recorder: Recorder,
  { signal, returned }: { readonly signal: AbortSignal; readonly returned: AbortSignal | undefined },
): Promise<{ end: StreamEnd; fresh: number; added: number }> {
  const lastEventId = (await spool.tail()).findLast((event) => event.own !== true && event.id !== undefined)?.id;
  const filter = new ReplayFilter(serviceEvents(spool), lastEventId, isSameEvent);
  let fresh = 0;
  let added = 0;
  let end: StreamEnd = { type: 'closed' };
  try {
    const connection = returned === undefined ? signal : AbortSignal.any([signal, returned]);
    const options = { signal: connection, ...(lastEventId !== undefined && { lastEventId }) };
    for await (const { event, data, id } of service.streamEvents(jobIdOf(recorder), options)) {
      const verdict = await filter.judge({ event, data, ...(id !== undefined && { id }) });
      if (verdict === 'gap') await recorder.note('gap', GAP_TEXT);
      if (verdict !== 'skip') {
        fresh += 1;
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
  return { end, fresh, added };
}

/** Updates the record with the service's current view of the job. @throws on abort, on a refused key and on one of another account. */
async function updateRecord(
  service: StreamSource,
  recorder: Recorder,
  signal: AbortSignal,
): Promise<'updated' | 'gone' | 'unreachable'> {
  let job: unknown;
  try {
    job = await service.getJob(jobIdOf(recorder), { signal });
  } catch (error) {
    signal.throwIfAborted();
    rethrowFinal(error);
    const failure = classifyFailure(error);
    if (failure !== 'missing' && failure !== 'gone') return 'unreachable';
    if (!isOver(recorder.record)) {
      const refused = await otherAccountError(service, recorder.record, { signal }).catch(() => 'unreachable' as const);
      if (refused === 'unreachable') return refused;
      if (refused !== undefined) throw refused;
      await recorder.apply({ state: 'lost', reason: 'the service no longer knows this job' });
    }
    return 'gone';
  }
  const patch = patchFromJob(job);
  if (!isStale(patch, recorder.record)) await recorder.apply(patch);
  return 'updated';
}

/** Notes, once per job, why a job whose service has closed its log is still followed. */
async function noteUnknownState(spool: EventSpool, recorder: Recorder): Promise<void> {
  const { state } = recorder.record;
  if (stateOfWord(state) !== undefined) return;
  const text = `The service closed this log. The job's state is "${state}", which Farwharf does not know, so it cannot tell whether the job has ended.`;
  const isNoted = (await spool.tail()).some(({ own, data }) => own === true && noteOf(data) === text);
  if (!isNoted) await recorder.note('gap', text);
}

/** Ends the log of a job whose service sent no `end` event, so that every reader of the spool stops. */
async function finish(spool: EventSpool, recorder: Recorder): Promise<JobRecord> {
  // If the disk was full in between, the log can be complete although the record is not.
  if ((await spool.tail()).some(({ event }) => event === 'end')) return recorder.record;
  const { state, exitCode, creditsCharged, reason, unpricedCpus, unpricedGpus } = recorder.record;
  const machine = { unpriced_cpus: unpricedCpus, unpriced_gpus: unpricedGpus };
  const data = { state, exit_code: exitCode, credits_charged: creditsCharged, ...machine, reason };
  await recorder.push({ event: 'end', data, own: true });
  await recorder.flush();
  return recorder.record;
}

/** Other IDs may differ in each replay. */
function isNumbered(id: string | undefined): boolean {
  return id !== undefined && /^\d{1,15}$/.test(id);
}

/** The events in a spool that the service sent. */
export async function* serviceEvents(spool: EventSpool): AsyncGenerator<SpooledEvent, void> {
  for await (const event of spool.read()) if (event.own !== true) yield event;
}

function rethrowFinal(error: unknown): void {
  if (LASTING.has(classifyFailure(error))) throw error;
}

function jobIdOf({ record }: Recorder): string {
  if (record.jobId === null) throw new AppError('missing', 'The service did not return a job ID.');
  return record.jobId;
}
