/** An event as the service sent it, plus where and when it was kept. */
export interface SpooledEvent {
  /** Position in the file just after this event: grows, is not consecutive, and is what `after` takes. */
  readonly seq: number;
  /** When it was received, ISO 8601. */
  readonly at: string;
  readonly event: string;
  readonly data: unknown;
  /** The service's event id, where it sends one. */
  readonly id?: string;
  /** Written by Farwharf itself: `phase`, `gap`, `truncated` with `{ text }`, or an `end` that the service did not send. */
  readonly own?: true;
}

export type NewEvent = Omit<SpooledEvent, 'seq' | 'at'>;

/**
 * The events of one job on disk: append-only, one JSON line each, readable by every process while one writes.
 * A last line cut by a crash is skipped. Over `maxBytes` (64 MB) a visible `truncated` event takes the place of further output.
 */
export class EventSpool {
  readonly path: string;

  /** `id` is the ledger's id of the job. The file is made by the first append. */
  constructor(_home: string, _id: string, _options: { maxBytes?: number } = {}) {
    throw new Error('not built yet');
  }

  /** Writes events in one go. */
  async append(_events: readonly NewEvent[]): Promise<void> {
    throw new Error('not built yet');
  }

  /** Yields what is there now, after position `after`. */
  read(_options: { after?: number; signal?: AbortSignal } = {}): AsyncGenerator<SpooledEvent, void> {
    throw new Error('not built yet');
  }

  /** Yields what is there and what comes, and returns after an `end` event. @throws the signal's reason on abort. */
  follow(_options: { after?: number; signal: AbortSignal }): AsyncGenerator<SpooledEvent, void> {
    throw new Error('not built yet');
  }
}
