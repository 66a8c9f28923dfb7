import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response';
import type { AppContext } from '../access/appEnv.ts';

// A client that takes nothing for this long is gone, or was never interested.
const STALLED_MS = 30_000;

/**
 * Responds with the same JSON to everyone. It needs no key, so it is serialized once, all responses share its bytes, and a client that does
 * not read them is disconnected.
 */
export function answerShared(value: () => unknown, stalledMs = STALLED_MS): (context: AppContext) => Response {
  let bytes: Buffer | undefined;
  return (context) => {
    const { outgoing } = context.env;
    bytes ??= Buffer.from(JSON.stringify(value()));
    const headers = { 'Content-Type': 'application/json', 'Content-Length': String(bytes.length) };
    if (context.req.method === 'HEAD') return context.body(null, 200, headers);
    outgoing.setTimeout(stalledMs, () => outgoing.destroy());
    outgoing.writeHead(200, headers).end(bytes);
    return RESPONSE_ALREADY_SENT;
  };
}
