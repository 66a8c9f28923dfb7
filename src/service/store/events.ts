import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type {
  ArtifactEventData,
  EndEventData,
  FlowEventData,
  LogEventData,
  StateEventData,
} from '../../remote/schemas.ts';

/** What the service tells about a job; `data` goes over the wire as JSON. */
export type ServiceEvent =
  | { type: 'state'; data: StateEventData }
  | { type: 'log'; data: LogEventData }
  | { type: 'flow'; data: FlowEventData }
  | { type: 'artifact'; data: ArtifactEventData }
  | { type: 'end'; data: EndEventData };

export interface StoredEvent {
  readonly id: number;
  readonly type: string;
  /** JSON text. */
  readonly data: string;
}

/** The events of all jobs, numbered from 1 in each. Methods that write expect the caller's transaction. */
export class EventTable {
  readonly #last: StatementSync;
  readonly #insert: StatementSync;
  readonly #page: StatementSync;

  constructor(database: DatabaseSync) {
    this.#last = database.prepare('SELECT max(id) AS id FROM events WHERE job = ?');
    this.#insert = database.prepare('INSERT INTO events VALUES (?, ?, ?, ?)');
    this.#page = database.prepare('SELECT id, type, data FROM events WHERE job = ? AND id > ? ORDER BY id LIMIT ?');
  }

  append(jobNumber: number, events: readonly ServiceEvent[]): void {
    let id = Number(this.#last.get(jobNumber)?.['id'] ?? 0);
    for (const { type, data } of events) this.#insert.run(jobNumber, ++id, type, JSON.stringify(data));
  }

  /** Up to `limit` events that follow the event `after`. */
  page(jobNumber: number, after: number, limit: number): readonly StoredEvent[] {
    return this.#page
      .all(jobNumber, after, limit)
      .map((row) => ({ id: Number(row['id']), type: String(row['type']), data: String(row['data']) }));
  }
}
