import { currentEvents } from '../log/currentEvents.ts';
import { lastLines } from '../log/lastLines.ts';
import type { EventSpool, SpooledEvent } from '../log/spool.ts';
import type { JobService } from '../service/api.ts';
import { logTextOf } from '../../remote/protocol/spellings.ts';

const MAX_CHARACTERS = 256_000;

interface LogSources {
  readonly service: Pick<JobService, 'streamEvents'>;
  readonly spool: EventSpool;
  readonly jobId: string;
}

/**
 * The last lines of a job's output so far, oldest first, whether or not anyone followed the job. Reads the spool alone if it is complete.
 *
 * @throws as `currentEvents`.
 */
export async function recentLines({ service, spool, jobId }: LogSources, signal: AbortSignal): Promise<string[]> {
  if ((await spool.tail()).some(({ event }) => event === 'end')) return lastLines(spool);
  const events: SpooledEvent[] = [];
  let characters = 0;
  for await (const event of currentEvents({ service, spool, jobId }, signal)) {
    const text = logTextOf(event.event, event.data);
    if (text === undefined) continue;
    events.push(event);
    characters += text.length;
    while (characters > MAX_CHARACTERS && events.length > 1) {
      const [oldest] = events.splice(0, 1);
      characters -= logTextOf('log', oldest?.data)?.length ?? 0;
    }
  }
  return lastLines({ tail: async () => events });
}
