import { textField } from '../../core/jsonFields.ts';
import { logTextOf } from '../../remote/protocol/spellings.ts';
import { ReadableOutput } from './dataLines.ts';
import type { EventSpool } from './spool.ts';

/** The last lines of a job's output, about 64 KB, oldest first. Each stream is complete in itself, so that lines of two do not mix. */
export async function lastLines(spool: Pick<EventSpool, 'tail'>): Promise<string[]> {
  const streams = new Map<string, string>();
  for (const { event, data } of await spool.tail()) {
    const text = logTextOf(event, data);
    if (text === undefined) continue;
    const stream = textField(data, 'stream') ?? '';
    streams.set(stream, (streams.get(stream) ?? '') + text);
  }
  // Most programs print traces to standard error, so its lines come last.
  const ordered = [...streams].toSorted(([a], [b]) => Number(a === 'stderr') - Number(b === 'stderr'));
  return ordered.flatMap(([, text]) => new ReadableOutput().push(undefined, `${text}\n`).split(/\r\n|[\n\r]/));
}
