import type { DatabaseSync, SQLOutputValue } from 'node:sqlite';
import type {
  ArtifactEventData,
  EndEventData,
  FlowEventData,
  LogEventData,
  StateEventData,
  UsageEventData,
} from '../../../remote/protocol/schemas.ts';
import type { FreezeEventData } from '../../../remote/protocol/debugging.ts';
import type { JobState } from '../../../remote/protocol/states.ts';
import { prepareAll, type Statements } from '../database/sqlStatements.ts';
import { type Ending, isUnpricedJob, type StoredJob } from './jobTable.ts';
import { parseOwnJson } from '../../../core/jsonFields.ts';
import { type Disposable, Emitter } from '../../../core/processes/lifetime.ts';

/** An event of a job. `data` is sent as JSON. */
export type ServiceEvent =
  | { type: 'state'; data: StateEventData }
  | { type: 'log'; data: LogEventData }
  | { type: 'flow'; data: FlowEventData }
  | { type: 'usage'; data: UsageEventData }
  | { type: 'freeze'; data: FreezeEventData }
  | { type: 'artifact'; data: ArtifactEventData }
  | { type: 'end'; data: EndEventData };

/** A line of the service itself in a job's log. */
export function serviceLine(sentence: string, about?: LogEventData['about']): LogEventData {
  return { stream: 'stderr', text: `farwharf: ${sentence}\n`, ...(about !== undefined && { about }) };
}

/** @param at milliseconds since 1970. */
export function stateEvent(state: JobState, at: number, reason?: string): ServiceEvent {
  return {
    type: 'state',
    data: { state, at: new Date(at).toISOString(), ...(reason === undefined ? {} : { reason }) },
  };
}

/** The last event of a job. @param credits what it was charged. */
export function endEvent(job: StoredJob, { state, exitCode }: Ending, credits: number): ServiceEvent {
  const machine = { unpriced_cpus: job.unpricedCpus, unpriced_gpus: job.unpricedGpus };
  const data = { state, exit_code: exitCode, credits_charged: credits, ...(isUnpricedJob(job) && machine) };
  return { type: 'end', data };
}

export interface StoredEvent {
  readonly id: number;
  readonly type: string;
  /** JSON text. */
  readonly data: string;
}

const SQL = {
  last: 'SELECT max(id) AS id FROM events WHERE job = ?',
  insert: 'INSERT INTO events VALUES (?, ?, ?, ?)',
  page: 'SELECT id, type, data FROM events WHERE job = ? AND id > ? ORDER BY id',
  usage: "SELECT data FROM events WHERE job = ? AND type = 'usage' ORDER BY id LIMIT 2000",
  pageBefore: 'SELECT id, type, data FROM events WHERE job = ? AND id < ? ORDER BY id DESC',
};

/** The events of all jobs, numbered from 1 in each. Methods that write expect the caller's transaction. */
export class EventTable {
  readonly #sql: Statements<typeof SQL>;

  constructor(database: DatabaseSync) {
    this.#sql = prepareAll(database, SQL);
  }

  /** @returns the ID of the job's last event. */
  append(jobNumber: number, events: readonly ServiceEvent[]): number {
    let id = this.last(jobNumber);
    for (const { type, data } of events) this.#sql.insert.run(jobNumber, ++id, type, JSON.stringify(data));
    return id;
  }

  /** The ID of a job's last event; 0 while it has none. */
  last(jobNumber: number): number {
    return Number(this.#sql.last.get(jobNumber)?.['id'] ?? 0);
  }

  /** The events after the event `after`, until they have `enough` characters; at least one if any exists. */
  page(jobNumber: number, after: number, enough: number): readonly StoredEvent[] {
    return take(this.#sql.page.iterate(jobNumber, after), enough);
  }

  /**
   * The reports of what a job used, in order. The longest job has fewer than 1,000; one that is not isolated can write more, of which 2,000
   * count.
   */
  usage(jobNumber: number): readonly UsageEventData[] {
    return this.#sql.usage.all(jobNumber).map(({ data }) => parseOwnJson<UsageEventData>(String(data)));
  }

  /** The last events before the event `before`, in their order, as `page`. */
  pageBefore(jobNumber: number, before: number, enough: number): readonly StoredEvent[] {
    return take(this.#sql.pageBefore.iterate(jobNumber, before), enough).toReversed();
  }
}

function take(rows: Iterable<Record<string, SQLOutputValue>>, enough: number): StoredEvent[] {
  const events: StoredEvent[] = [];
  let length = 0;
  for (const row of rows) {
    const event = { id: Number(row['id']), type: String(row['type']), data: String(row['data']) };
    events.push(event);
    length += event.data.length;
    if (length >= enough) break;
  }
  return events;
}

/** Signals new events by job, so that a job's events wake only its own readers. */
export class AppendSignals implements Disposable {
  readonly #emitters = new Map<string, Emitter<number>>();

  /** Calls `listener` with the ID of the job's last event whenever some were added, until the result is disposed. */
  on(jobId: string, listener: (last: number) => void): Disposable {
    const emitter = this.#emitters.get(jobId) ?? new Emitter<number>();
    this.#emitters.set(jobId, emitter);
    const subscription = emitter.event(listener);
    return {
      dispose: () => {
        subscription.dispose();
        if (emitter.isEmpty && this.#emitters.get(jobId) === emitter) this.#emitters.delete(jobId);
      },
    };
  }

  fire(jobId: string, last: number): void {
    this.#emitters.get(jobId)?.fire(last);
  }

  dispose(): void {
    this.#emitters.clear();
  }
}
