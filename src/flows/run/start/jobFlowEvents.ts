import * as z from 'zod';
import { MarkedLineReader } from '../../../core/text/markedLines.ts';
import { readRunEvent, type RunEvent } from '../protocol/runEvent.ts';

/** An event of a job, from any service. */
interface ServerSentEvent {
  readonly event: string;
  readonly data: unknown;
}

const logData = z.union([
  z.string().transform((text) => ({ stream: '', text })),
  z.looseObject({ stream: z.string().catch(''), text: z.string() }),
]);

/**
 * Finds the run events of a flow among the events of its job: `flow` events of our own service, and marked lines in the log of
 * any other. Create one for each reading of a job's events, and push them in order.
 */
export class JobFlowEvents {
  readonly #readers = new Map<string, MarkedLineReader>();

  push({ event, data }: ServerSentEvent): readonly RunEvent[] {
    if (event === 'flow') return checked(data);
    const log = logData.safeParse(data);
    if (!log.success) return [];
    const { stream, text } = log.data;
    const reader = this.#readers.get(stream) ?? new MarkedLineReader();
    this.#readers.set(stream, reader);
    return reader.push(text).flatMap((piece) => (piece.type === 'value' ? checked(piece.value) : []));
  }

  /** How many events were damaged in transit, which leaves gaps in the run. */
  get lost(): number {
    return [...this.#readers.values()].reduce((sum, { lost }) => sum + lost, 0);
  }
}

/** A job can print anything, so the shape of each event is checked. */
function checked(value: unknown): readonly RunEvent[] {
  const event = readRunEvent(value);
  return event === undefined ? [] : [event];
}
