import type { EventSpool } from '../log/spool.ts';
import { ViewText } from './viewText.ts';

/** Yields the text of a job's log piece by piece, with lines of any length. @throws the signal's reason on abort. */
export async function* wholeLog(spool: Pick<EventSpool, 'read'>, signal: AbortSignal): AsyncGenerator<string, void> {
  const text = new ViewText({ keepsLongLines: true, keepsData: true });
  for await (const event of spool.read({ signal })) yield text.push(event);
  yield text.flush();
}
