import { hash } from 'node:crypto';
import { classifyFailure, isFinal } from '../../core/network/classifyFailure.ts';
import { type Backoff, backoffMs, Retries } from '../../core/retry.ts';
import type { RequestOptions } from '../http/requestLimits.ts';
import type { Job, ServerSentEvent } from '../protocol/schemas.ts';
import { stateOfWord } from '../protocol/spellings.ts';
import { isFinalState } from '../protocol/states.ts';
import type { JobEventStream } from './eventStream.ts';
import type { JobEvent } from './jobEvent.ts';
import { ReplayFilter } from './replay.ts';

export interface FollowOptions extends RequestOptions {
  /** The ID of the last event that was received before; a service that numbers its events continues after it. */
  readonly lastEventId?: string;
  /** Seconds without a response of the service after which following fails; 900 by default. */
  readonly maxOutage?: number;
  /** Called when events may be missing or repeated: the connection was lost, and the service neither numbers nor repeats its events. */
  readonly onGap?: () => void;
}

interface Source {
  getJob(jobId: string, options: RequestOptions): Promise<Job>;
  streamEvents(jobId: string, options: RequestOptions & { readonly lastEventId?: string }): JobEventStream;
}

const BACKOFF = { firstMs: 250, factor: 4 };
const MAX_OUTAGE_SECONDS = 900;
// A stream that was open for longer than its read timeout received bytes, though perhaps no event.
const LIVE_STREAM_MS = 200_000;
const NUMBER = /^\d{1,15}$/;

/**
 * Yields every event of a job once, in order, over any number of connections, until its `end` event, or until the service has closed the
 * stream of a job in a final state.
 *
 * @throws the signal's reason, what the service refuses, and the last failure once the service has not responded for `maxOutage` seconds.
 */
export async function* followEvents(
  source: Source,
  jobId: string,
  { maxOutage = MAX_OUTAGE_SECONDS, onGap, lastEventId: first, ...options }: FollowOptions,
  backoff: Backoff = BACKOFF,
): AsyncGenerator<JobEvent, void> {
  const received = new ReceivedEvents(first);
  const retries = new Retries({ delayMs: (failures) => backoffMs(failures, backoff), signal: options.signal });
  let outageSince: number | undefined;
  for (;;) {
    const startedAt = performance.now();
    let failure: unknown;
    let isNew = false;
    try {
      const repeated = received.repeated();
      const { lastId: lastEventId } = received;
      const connection = lastEventId === undefined ? options : { ...options, lastEventId };
      for await (const event of source.streamEvents(jobId, connection)) {
        outageSince = undefined;
        const verdict = await repeated.judge(event);
        if (verdict === 'skip') continue;
        if (verdict === 'gap') onGap?.();
        received.add(event);
        isNew = true;
        yield event;
        if (event.event === 'end') return;
      }
    } catch (error) {
      options.signal?.throwIfAborted();
      if (isFinal(classifyFailure(error))) throw error;
      failure = error;
    }
    try {
      const { state } = await source.getJob(jobId, options);
      outageSince = undefined;
      if (failure === undefined && !isNew && isOver(state)) return;
    } catch (error) {
      options.signal?.throwIfAborted();
      if (isFinal(classifyFailure(error))) throw error;
      const now = performance.now();
      if (now - startedAt > LIVE_STREAM_MS) outageSince = undefined;
      outageSince ??= now;
      if (now - outageSince > maxOutage * 1_000) throw error;
    }
    if (isNew) retries.reset();
    await retries.wait();
  }
}

/** What is needed to recognize events that a service sends again. */
class ReceivedEvents {
  /** Of all events, unless the service numbers them. */
  #marks: number[] = [];
  lastId: string | undefined;

  constructor(lastId: string | undefined) {
    this.lastId = lastId;
  }

  add(event: ServerSentEvent): void {
    this.lastId = event.id ?? this.lastId;
    if (event.id !== undefined && NUMBER.test(event.id)) this.#marks = [];
    else this.#marks.push(markOf(event));
  }

  /** Decides which events of a new connection are repeated. */
  repeated(): Pick<ReplayFilter, 'judge'> {
    const { lastId } = this;
    const filter = new ReplayFilter(toAsync(this.#marks.slice()), lastId, (event, mark) => markOf(event) === mark);
    const isRepeated = (id: string | undefined): boolean =>
      id !== undefined &&
      lastId !== undefined &&
      NUMBER.test(id) &&
      NUMBER.test(lastId) &&
      Number(id) <= Number(lastId);
    return { judge: async (event) => (isRepeated(event.id) ? 'skip' : filter.judge(event)) };
  }
}

/** 48 bits that two different events share with no practical probability. Eight bytes each: a job may have millions. */
function markOf({ event, data, id }: ServerSentEvent): number {
  return hash('sha256', JSON.stringify([event, data, id]), 'buffer').readUIntBE(0, 6);
}

async function* toAsync(marks: readonly number[]): AsyncGenerator<number, void> {
  yield* marks;
}

function isOver(state: unknown): boolean {
  const jobState = typeof state === 'string' ? stateOfWord(state) : undefined;
  return jobState !== undefined && isFinalState(jobState);
}
