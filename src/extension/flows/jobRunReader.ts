import { MarkedLineReader } from '../../core/markedLines.ts';
import type { RunEvent } from '../../flows/run/runEvent.ts';
import { logTextOf } from '../../jobs/progress.ts';

/** An event of a job, of any service. */
interface JobEventLike {
  readonly event: string;
  readonly data: unknown;
}

/**
 * Takes what a flow tells of its run out of the events of its job: `flow` events where the service has them, marked lines in the
 * log elsewhere. Of several runs in one job only the first is read.
 */
export class JobRunReader {
  readonly #streams = new Map<string, MarkedLineReader>();
  #run: number | undefined;

  push({ event, data }: JobEventLike): readonly RunEvent[] {
    const values = event === 'flow' ? [data] : this.#marked(logTextOf(event, data) ?? '', streamOf(data));
    return values.filter(isRunEvent).filter(({ run }) => run === (this.#run ??= run));
  }

  #marked(text: string, stream: string): readonly unknown[] {
    if (text === '') return [];
    const reader = this.#streams.get(stream) ?? new MarkedLineReader();
    this.#streams.set(stream, reader);
    return reader.push(text).flatMap((piece) => (piece.type === 'value' ? [piece.value] : []));
  }
}

function streamOf(data: unknown): string {
  return typeof data === 'object' && data !== null && 'stream' in data ? String(data.stream) : '';
}

function isRunEvent(value: unknown): value is RunEvent {
  if (typeof value !== 'object' || value === null) return false;
  return 'type' in value && typeof value.type === 'string' && 'run' in value && typeof value.run === 'number';
}
