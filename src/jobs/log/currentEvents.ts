import type { JobService } from '../service/api.ts';
import { isSameEvent, ReplayFilter } from '../../remote/events/replay.ts';
import type { EventSpool, SpooledEvent } from './spool.ts';
import { serviceEvents } from './reconnectingStream.ts';

// A service sends all stored events at once, but does not mark the last of them.
const MAX_FIRST_MS = 3_000;
const MAX_PAUSE_MS = 400;
// A job that prints all the time never pauses. Then earlier output arrives fast, and new output slowly.
const WINDOW_MS = 400;
const MIN_EVENTS_IN_WINDOW = 50;
// A single pause may be a stall of the network.
const MAX_SLOW_WINDOWS = 2;
const MAX_TOTAL_MS = 10_000;

type Source = Pick<JobService, 'streamEvents'>;

/**
 * Yields the events of a job so far: those in the spool, and what the service has sent since. Writes nothing. Stops
 * after ten seconds if the service sends as fast as it would send earlier events.
 *
 * @throws the service's error, after the events of the spool; the signal's reason on abort.
 */
export async function* currentEvents(
  { service, spool, jobId }: { readonly service: Source; readonly spool: EventSpool; readonly jobId: string },
  signal: AbortSignal,
): AsyncGenerator<SpooledEvent, void> {
  let lastEventId: string | undefined;
  for await (const event of spool.read({ signal })) {
    yield event;
    if (event.event === 'end') return;
    if (event.own !== true) lastEventId = event.id ?? lastEventId;
  }
  const quiet = new AbortController();
  let timer = setTimeout(() => quiet.abort(), MAX_FIRST_MS);
  const filter = new ReplayFilter(serviceEvents(spool), lastEventId, isSameEvent);
  const options = {
    signal: AbortSignal.any([signal, quiet.signal]),
    ...(lastEventId !== undefined && { lastEventId }),
  };
  const deadline = performance.now() + MAX_TOTAL_MS;
  let window = { since: Number.POSITIVE_INFINITY, events: 0 };
  let slowWindows = 0;
  try {
    for await (const event of service.streamEvents(jobId, options)) {
      clearTimeout(timer);
      timer = setTimeout(() => quiet.abort(), MAX_PAUSE_MS);
      if ((await filter.judge(event)) !== 'skip') yield { ...event, seq: 0, at: new Date().toISOString() };
      const now = performance.now();
      if (event.event === 'end' || now > deadline) return;
      window = { since: Math.min(window.since, now), events: window.events + 1 };
      if (now - window.since < WINDOW_MS) continue;
      slowWindows = window.events < MIN_EVENTS_IN_WINDOW ? slowWindows + 1 : 0;
      if (slowWindows === MAX_SLOW_WINDOWS) return;
      window = { since: now, events: 0 };
    }
  } catch (error) {
    if (signal.aborted || !quiet.signal.aborted) throw error;
  } finally {
    clearTimeout(timer);
    await filter.dispose();
  }
}
