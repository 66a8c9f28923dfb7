import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response';
import type { StoredJob } from '../store/jobs/jobs.ts';
import type { EventStreams } from '../streams/eventStreams.ts';
import type { AppContext } from './access/appEnv.ts';
import { refusal } from './access/refusal.ts';

/**
 * `GET /v1/jobs/{id}/events`, until the job or the signal ends it. Bypasses the framework, whose streams cost several times as much
 * memory per reader.
 */
export function answerEvents(
  context: AppContext,
  job: StoredJob,
  { streams, signal }: { readonly streams: EventStreams; readonly signal: AbortSignal },
): Response {
  const lastId = context.req.header('last-event-id') ?? '0';
  if (!/^\d{1,15}$/.test(lastId)) throw refusal(400, 'Last-Event-ID: must be the ID of an event of this job.');
  const isGzipped = acceptsGzip(context.req.header('accept-encoding') ?? '');
  streams.add(job, context.env.outgoing, { after: Number(lastId), isGzipped, signal });
  return RESPONSE_ALREADY_SENT;
}

/** Whether the header names gzip or `*` with a weight above zero (RFC 9110, section 12.5.3). */
function acceptsGzip(header: string): boolean {
  const weights = new Map(
    header.split(',').map((item) => {
      const [name = '', weight = 'q=1'] = item.split(';').map((part) => part.trim().toLowerCase());
      return [name, Number(weight.replace(/^q=/, ''))];
    }),
  );
  return (weights.get('gzip') ?? weights.get('x-gzip') ?? weights.get('*') ?? 0) > 0;
}
