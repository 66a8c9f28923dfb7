import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { currentEvents } from '../../../../src/jobs/log/currentEvents.ts';
import { EventSpool, type NewEvent } from '../../../../src/jobs/log/spool.ts';
import type { JobService } from '../../../../src/jobs/service/api.ts';
import type { ServerSentEvent } from '../../../../src/remote/protocol/schemas.ts';
import { tempHome } from '../fixtures.ts';

const line = (id: number, isNumbered = true): ServerSentEvent => ({
  event: 'log',
  data: `line ${id}`,
  ...(isNumbered && { id: String(id) }),
});
const END: ServerSentEvent = { event: 'end', data: {} };

/** A service that sends these events, then nothing until the reader leaves. */
function silentAfter(
  events: readonly ServerSentEvent[],
  asked: (string | undefined)[] = [],
): Pick<JobService, 'streamEvents'> {
  return {
    async *streamEvents(_job, options) {
      asked.push(options?.lastEventId);
      yield* events;
      await sleep(60_000, undefined, { ...(options?.signal !== undefined && { signal: options.signal }) });
    },
  };
}

async function read(
  t: Parameters<typeof tempHome>[0],
  service: Pick<JobService, 'streamEvents'>,
  spooled: readonly NewEvent[] = [],
): Promise<unknown[]> {
  const spool = new EventSpool(tempHome(t), 'job');
  await spool.append(spooled);
  const events = await Array.fromAsync(currentEvents({ service, spool, jobId: 'j' }, new AbortController().signal));
  return events.map(({ event, data }) => (event === 'log' ? data : event));
}

test('of a job that runs, the events so far are read, and the spool is continued', async (t) => {
  const asked: (string | undefined)[] = [];
  const all = ['line 1', 'line 2', 'line 3'];
  assert.deepEqual(await read(t, silentAfter([line(1), line(2), line(3)], asked)), all);
  assert.deepEqual(await read(t, silentAfter([line(3)], asked), [line(1), line(2)]), all);
  assert.deepEqual(await read(t, silentAfter([line(1), line(2), line(3)], asked), [line(1), line(2)]), all, 'a replay');
  assert.deepEqual(asked, [undefined, '2', '2']);
});

test('a job that prints all the time is not followed', async (t) => {
  let sent = 0;
  const service: Pick<JobService, 'streamEvents'> = {
    async *streamEvents() {
      for (;;) {
        sent += 1;
        yield line(sent);
        if (sent > 10_000) await sleep(20);
      }
    },
  };
  const events = await read(t, service);
  assert.equal(events.length, sent);
  assert.ok(sent > 10_000 && sent < 10_200, `${sent} events`);
});

test('without event IDs, what the service repeats is not read twice', async (t) => {
  const [one, two] = [line(1, false), line(2, false)];
  assert.deepEqual(await read(t, silentAfter([one, two]), [one]), ['line 1', 'line 2']);
});

test('the service is not asked about a job whose end is in the spool, and not waited for after the end', async (t) => {
  const unasked = { streamEvents: () => assert.fail('it was asked') };
  assert.deepEqual(await read(t, unasked, [line(1), END]), ['line 1', 'end']);
  assert.deepEqual(await read(t, silentAfter([line(1), END])), ['line 1', 'end']);
});

test('a service that refuses is reported after what is in the spool', async (t) => {
  const spool = new EventSpool(tempHome(t), 'job');
  await spool.append([line(1)]);
  const service: Pick<JobService, 'streamEvents'> = {
    streamEvents: () => ({
      [Symbol.asyncIterator]: () => ({ next: () => Promise.reject(new Error('no such route')) }),
    }),
  };
  const seen: unknown[] = [];
  const reading = async (): Promise<void> => {
    for await (const { data } of currentEvents({ service, spool, jobId: 'j' }, new AbortController().signal))
      seen.push(data);
  };
  await assert.rejects(reading(), /no such route/);
  assert.deepEqual(seen, ['line 1']);
});

test('a service that never sends anything is not waited for', async (t) => {
  assert.deepEqual(await read(t, silentAfter([]), [line(1)]), ['line 1']);
});
