import type { ServerResponse } from 'node:http';

/** Calls `work` once an answer is over or its client has left, at once where that was while something else was awaited. */
export function onClose(outgoing: ServerResponse, work: () => void): void {
  if (outgoing.closed) work();
  else outgoing.once('close', work);
}
