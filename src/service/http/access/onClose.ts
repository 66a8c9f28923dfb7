import type { ServerResponse } from 'node:http';

/** Calls `work` when a response has ended or its client has disconnected, immediately if that has happened already. */
export function onClose(outgoing: ServerResponse, work: () => void): void {
  if (outgoing.closed) work();
  else outgoing.once('close', work);
}
