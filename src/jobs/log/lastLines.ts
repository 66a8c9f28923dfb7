import { textField } from '../../core/jsonFields.ts';
import { MarkedLineReader, textOf } from '../../core/text/markedLines.ts';
import { logTextOf } from '../../remote/protocol/spellings.ts';
import type { EventSpool } from './spool.ts';

/** The last lines of a job's output, about 64 KB, oldest first. Each stream is complete in itself, so that lines of two do not mix. */
export async function lastLines(spool: Pick<EventSpool, 'tail'>): Promise<string[]> {
  const marked = new MarkedLineReader();
  const streams = new Map<string, string>();
  for (const { event, data } of await spool.tail()) {
    const text = logTextOf(event, data);
    if (text === undefined) continue;
    const stream = textField(data, 'stream') ?? '';
    streams.set(stream, (streams.get(stream) ?? '') + text);
  }
  // Most programs print traces to standard error, so its lines come last.
  const ordered = [...streams].toSorted(([a], [b]) => Number(a === 'stderr') - Number(b === 'stderr'));
  return ordered.flatMap(([, text]) => textOf(marked.push(`${text}\n`)).split(/\r\n|[\n\r]/));
}
