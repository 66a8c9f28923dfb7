import * as z from 'zod';
import { MarkedLineReader } from '../../../core/text/markedLines.ts';
import type { RunEvent } from '../protocol/runEvent.ts';
import { readRunEvent } from '../protocol/runEventSchema.ts';

/** An event of a job, from any service. */
interface JobEvent {
  readonly event: string;
  readonly data: unknown;
}

const logData = z.union([
  z.string().transform((text) => ({ stream: '', text })),
  z.looseObject({ stream: z.string().catch(''), text: z.string() }),
]);

/**
 * Finds what a flow tells of its run among the events of its job: `flow` events of our own service, and marked lines in the log
 * of any other. One for each reading of a job's events, which it takes in their order.
 */
export class JobFlowEvents {
  readonly #readers = new Map<string, MarkedLineReader>();

  push({ event, data }: JobEvent): readonly RunEvent[] {
    if (event === 'flow') return checked(data);
    const log = logData.safeParse(data);
    if (!log.success) return [];
    const { stream, text } = log.data;
    const reader = this.#readers.get(stream) ?? new MarkedLineReader();
    this.#readers.set(stream, reader);
    return reader.push(text).flatMap((piece) => (piece.type === 'value' ? checked(piece.value) : []));
  }

  /** How many events were damaged on their way: the picture of the run has gaps then. */
  get lost(): number {
    return [...this.#readers.values()].reduce((sum, { lost }) => sum + lost, 0);
  }
}

/** A job can print anything, so only what has the shape of an event is one. */
function checked(value: unknown): readonly RunEvent[] {
  const event = readRunEvent(value);
  return event === undefined ? [] : [event];
}
