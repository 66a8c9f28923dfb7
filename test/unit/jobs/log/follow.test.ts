import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { test, type TestContext } from 'node:test';
import { directLedger } from '../../../../src/jobs/ledger/asyncLedger.ts';
import { type FollowDeps, followJob, watchJob } from '../../../../src/jobs/log/follow.ts';
import { JobLedger } from '../../../../src/jobs/ledger/ledger.ts';
import type { JobRecord } from '../../../../src/jobs/ledger/record.ts';
import { EventSpool, type SpooledEvent } from '../../../../src/jobs/log/spool.ts';
import { ResultCounter } from '../../../../src/jobs/log/resultCounter.ts';
import type { ServerSentEvent } from '../../../../src/remote/protocol/schemas.ts';
import { GUARD_MS, withGrowingLimit } from '../../timeLimits.ts';
import { makeRecord, tempHome } from '../fixtures.ts';
import { connectTo } from '../testClient.ts';
import { type Answers, cut, sendEvents, sendJson, TestService } from '../testService.ts';

const log = (text: string): ServerSentEvent => ({ event: 'log', data: { stream: 'stdout', text } });
const state = (name: string): ServerSentEvent => ({
  event: 'state',
  data: { state: name, at: '2026-01-01T00:00:05.000Z' },
});
const end: ServerSentEvent = { event: 'end', data: { state: 'succeeded', exit_code: 0, credits_charged: 0.5 } };
const whole = [state('queued'), state('running'), ...['a', 'b', 'c', 'd'].map((text) => log(`${text}\n`)), end];
const done = { state: 'succeeded', exit_code: 0, credits_charged: 0.5, finished_at: '2026-01-01T00:00:09.000Z' };

const FAST = { backoff: { firstMs: 5, factor: 1 }, leaseMs: 300 };

interface Setting extends FollowDeps {
  readonly record: JobRecord;
  readonly http: TestService;
  readonly jobs: JobLedger;
  readonly home: string;
}

async function setUp(t: TestContext, answers: Answers, fields: Partial<JobRecord> = {}): Promise<Setting> {
  const home = tempHome(t);
  const http = await TestService.start(t, answers);
  const jobs = new JobLedger(home);
  t.after(() => jobs.dispose());
  const record = makeRecord(fields);
  jobs.insert(record);
  const spool = new EventSpool(home, record.id);
  const results = new ResultCounter(home);
  return { record, http, jobs, home, spool, results, ledger: directLedger(jobs), service: connectTo(http.url) };
}

async function spooled(spool: EventSpool): Promise<SpooledEvent[]> {
  return Array.fromAsync(spool.read());
}

const texts = (events: readonly SpooledEvent[]): string[] =>
  events.filter(({ event }) => event === 'log').map(({ data }) => (data as { text: string }).text.trim());
const kinds = (events: readonly SpooledEvent[]): string[] => events.map(({ event }) => event);
const running = (response: ServerResponse): void => sendJson(response, { state: 'running' });

test('a job is followed to its end: events on disk, record settled', async (t) => {
  const setting = await setUp(t, {
    events: (_, response) => {
      sendEvents(response, whole, 1);
      response.end();
    },
    job: (_, response) => sendJson(response, done),
  });
  const updates: string[] = [];
  const last = await followJob(setting, setting.record.id, {
    ...FAST,
    signal: t.signal,
    onUpdate: (record) => updates.push(record.state),
  });
  assert.equal(last.state, 'succeeded');
  assert.equal(last.exitCode, 0);
  assert.equal(last.creditsCharged, 0.5);
  assert.equal(last.startedAt, '2026-01-01T00:00:05.000Z');
  assert.equal(last.finishedAt, '2026-01-01T00:00:09.000Z');
  assert.equal(last.lastLogLine, 'd');
  assert.ok(updates.includes('running'));
  assert.deepEqual(setting.jobs.get(setting.record.id), last);
  assert.deepEqual(
    (await spooled(setting.spool)).map(({ event, data, id }) => ({ event, data, id })),
    whole.map((event, index) => ({ ...event, id: String(index + 1) })),
  );
  // A second follower finds all there and asks nobody.
  const before = setting.http.attempts.events;
  await followJob(setting, setting.record.id, { ...FAST, signal: t.signal });
  assert.equal(setting.http.attempts.events, before);
});

test('after each cut it continues after the last event ID, without loss or duplicates', async (t) => {
  const setting = await setUp(t, {
    events: (request, response) => {
      const after = Number(request.headers['last-event-id'] ?? 0);
      sendEvents(response, whole.slice(after, after + 2), after + 1);
      cut(response);
    },
    job: (_, response) => running(response),
  });
  const contacts: boolean[] = [];
  const onContact = (isReachable: boolean): void => void contacts.push(isReachable);
  const last = await followJob(setting, setting.record.id, { ...FAST, signal: t.signal, onContact });
  assert.equal(last.exitCode, 0);
  assert.deepEqual(contacts, [true, true, true], 'the service responded each time');
  assert.deepEqual(kinds(await spooled(setting.spool)), kinds(whole as SpooledEvent[]));
  assert.deepEqual(setting.http.lastEventIds, [undefined, '2', '4', '6']);
});

test('after a cut it continues after the last event that has an ID', async (t) => {
  const setting = await setUp(t, {
    events: (_, response, attempt) => {
      sendEvents(response, whole.slice(2 * attempt - 2, 2 * attempt - 1), 2 * attempt - 1);
      sendEvents(response, whole.slice(2 * attempt - 1, 2 * attempt));
      cut(response);
    },
    job: (_, response) => running(response),
  });
  await followJob(setting, setting.record.id, { ...FAST, signal: t.signal });
  assert.deepEqual(setting.http.lastEventIds, [undefined, '1', '3', '5']);
});

test('a connection that brought events sets the delay back to the first', { timeout: GUARD_MS }, async (t) => {
  const setting = await setUp(t, {
    events: (request, response) => {
      const after = Number(request.headers['last-event-id'] ?? 0);
      sendEvents(response, whole.slice(after, after + 1), after + 1);
      cut(response);
    },
    job: (_, response) => running(response),
  });
  const backoff = { firstMs: 1, factor: 2 * GUARD_MS, longestMs: 2 * GUARD_MS };
  await followJob(setting, setting.record.id, { ...FAST, backoff, signal: t.signal });
  assert.equal(setting.http.attempts.events, whole.length);
});

test('a service that numbers events but begins again each time is understood, and is not looked for elsewhere', async (t) => {
  const setting = await setUp(t, {
    events: (_, response, attempt) => {
      sendEvents(response, whole.slice(0, attempt * 2), 1);
      cut(response);
    },
    job: (_, response) => running(response),
  });
  const deps = { ...setting, reconnect: () => assert.fail('it responds') };
  await followJob(deps, setting.record.id, { ...FAST, signal: t.signal });
  assert.deepEqual(kinds(await spooled(setting.spool)), kinds(whole as SpooledEvent[]));
});

test('a replay without ids is recognised, whatever was cut, and no gap is drawn', async (t) => {
  const setting = await setUp(t, {
    events: (_, response, attempt) => {
      // The second replay is shorter than what is known already.
      sendEvents(response, whole.slice(0, [4, 2, 6, 99][attempt - 1]));
      cut(response);
    },
    job: (_, response) => running(response),
  });
  await followJob(setting, setting.record.id, { ...FAST, signal: t.signal });
  assert.deepEqual(kinds(await spooled(setting.spool)), kinds(whole as SpooledEvent[]));
});

test('if a service without IDs continues in the middle, a gap is drawn and nothing is dropped', async (t) => {
  const setting = await setUp(t, {
    events: (_, response, attempt) => {
      sendEvents(response, attempt === 1 ? whole.slice(0, 4) : whole.slice(5));
      cut(response);
    },
    job: (_, response) => running(response),
  });
  await followJob(setting, setting.record.id, { ...FAST, signal: t.signal });
  const events = await spooled(setting.spool);
  assert.deepEqual(kinds(events), ['state', 'state', 'log', 'log', 'gap', 'log', 'end']);
  assert.deepEqual(texts(events), ['a', 'b', 'd']);
});

const few = [state('running'), log('a\n'), log('b\n'), end];

for (const hasIds of [true, false]) {
  // A replay is read from its beginning each time, so it is cut at every third byte.
  const step = hasIds ? 1 : 3;
  const name = hasIds ? 'every byte is continued by its IDs' : 'every third byte is continued from replays without IDs';

  test(`a stream cut at ${name}`, async (t) => {
    const blocks = few.map(({ event, data }, index) => {
      const id = hasIds ? `id: ${index + 1}\n` : '';
      return `${id}event: ${event}\ndata: ${JSON.stringify(data)}\n\n`;
    });
    const bytes = blocks.join('').length;
    const setting = await setUp(t, {
      events: (request, response, attempt) => {
        const after = Number(request.headers['last-event-id'] ?? 0);
        const known = blocks.slice(0, after).join('').length;
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        response.write(blocks.join('').slice(known, attempt * step), () => response.destroy());
      },
      job: (_, response) => running(response),
    });
    const last = await followJob(setting, setting.record.id, { ...FAST, backoff: { firstMs: 0 }, signal: t.signal });
    assert.equal(last.state, 'succeeded');
    assert.ok(setting.http.attempts.events >= Math.floor(bytes / step) - 1);
    assert.deepEqual(
      (await spooled(setting.spool)).map(({ event, data }) => ({ event, data })),
      few,
    );
  });
}

/** The log of a job that is over. */
const long: readonly ServerSentEvent[] = [
  { event: 'state', data: { state: 'running' } },
  ...Array.from({ length: 20 }, (_, line) => ({ event: 'log', data: { text: `line ${line}\n` } })),
  { event: 'end', data: done },
];

for (const [how, end] of [
  ['breaks', cut],
  ['is closed', (response: ServerResponse) => void response.end()],
] as const) {
  test(`the log of a job that is over is read to its last event, however often the connection ${how}`, async (t) => {
    const setting = await setUp(t, {
      events: (request, response) => {
        const after = Number(request.headers['last-event-id'] ?? 0);
        sendEvents(response, long.slice(after, after + 2), after + 1);
        end(response);
      },
      job: (_, response) => sendJson(response, done),
    });
    await followJob(setting, setting.record.id, { ...FAST, signal: t.signal });
    assert.deepEqual(
      (await spooled(setting.spool)).map(({ event, data }) => ({ event, data })),
      long,
    );
  });
}

test("the rest of a finished job's log is read once the network is back", async (t) => {
  let missing = 20;
  const isMissing = (): boolean => missing > 0 && missing-- > 0;
  const setting = await setUp(t, {
    events: (request, response, attempt) => {
      const after = Number(request.headers['last-event-id'] ?? 0);
      if (attempt > 1 && isMissing()) return void response.destroy();
      sendEvents(response, attempt === 1 ? long.slice(0, 3) : long.slice(after), after + 1);
      if (attempt === 1) return cut(response);
      response.end();
    },
    job: (_, response, attempt) => {
      if (attempt > 1 && isMissing()) response.destroy();
      else sendJson(response, done);
    },
  });
  await followJob(setting, setting.record.id, { ...FAST, signal: t.signal });
  assert.equal(missing, 0);
  assert.deepEqual(
    (await spooled(setting.spool)).map(({ event, data }) => ({ event, data })),
    long,
  );
});

test('a log without numbers ends where a service that knows the job to be over closes it', async (t) => {
  const setting = await setUp(t, {
    events: (_, response, attempt) => {
      sendEvents(response, [log(`only of connection ${attempt}\n`)]);
      response.end();
    },
    job: (_, response) => sendJson(response, done),
  });
  await followJob(setting, setting.record.id, { ...FAST, signal: t.signal });
  assert.deepEqual(kinds(await spooled(setting.spool)), ['log', 'end']);
});

test('a missing network is waited out, and reported until the service responds again', async (t) => {
  const setting = await setUp(t, {});
  const { port } = setting.http;
  setting.http.stop();
  const failed = Promise.withResolvers<void>();
  const reconnect = async (): Promise<FollowDeps['service']> => {
    failed.resolve();
    return setting.service;
  };
  const contacts = new Set<boolean>();
  const onContact = (isReachable: boolean): void => void contacts.add(isReachable);
  const following = followJob({ ...setting, reconnect }, setting.record.id, { ...FAST, signal: t.signal, onContact });
  await failed.promise;
  assert.deepEqual([...contacts], [false]);
  await TestService.start(
    t,
    {
      events: (_, response) => {
        sendEvents(response, whole, 1);
        response.end();
      },
      job: (_, response) => sendJson(response, done),
    },
    port,
  );
  assert.equal((await following).state, 'succeeded');
  assert.deepEqual([...contacts], [false, true]);
});

test('a service that comes back elsewhere is found through reconnect', async (t) => {
  const setting = await setUp(t, {});
  setting.http.stop();
  const other = await TestService.start(t, {
    events: (_, response) => {
      sendEvents(response, whole, 1);
      response.end();
    },
    job: (_, response) => sendJson(response, done),
  });
  const deps = { ...setting, reconnect: async () => connectTo(other.url) };
  assert.equal((await followJob(deps, setting.record.id, { ...FAST, signal: t.signal })).state, 'succeeded');
});

test('server errors are waited out too', async (t) => {
  const setting = await setUp(t, {
    events: (_, response, attempt) => {
      if (attempt < 3) return sendJson(response, { detail: 'overloaded' }, 503);
      sendEvents(response, whole, 1);
      response.end();
    },
    job: (_, response) => running(response),
  });
  const last = await followJob(setting, setting.record.id, { ...FAST, signal: t.signal });
  assert.equal(last.state, 'succeeded', 'a late "running" does not bring a finished job back');
});

for (const status of [401, 403]) {
  test(`a refused key (${status}) ends the following and leaves the job as it was`, async (t) => {
    const setting = await setUp(t, { events: (_, response) => sendJson(response, { detail: 'revoked' }, status) });
    await assert.rejects(followJob(setting, setting.record.id, { ...FAST, signal: t.signal }), { status });
    assert.equal(setting.jobs.get(setting.record.id)?.state, 'queued');
    assert.equal(setting.jobs.claim(setting.record.id, 'next', 1_000), true, 'the lease is free again');
  });
}

test('a job that the service no longer knows is lost, and its log is closed', async (t) => {
  const setting = await setUp(t, {});
  const last = await followJob(setting, setting.record.id, { ...FAST, signal: t.signal });
  assert.equal(last.state, 'lost');
  assert.match(last.reason ?? '', /no longer knows/);
  const events = await spooled(setting.spool);
  assert.deepEqual(
    events.map(({ event, own }) => [event, own]),
    [['end', true]],
  );
});

test('a job that is known to have ended is not lost when the service forgets it', async (t) => {
  const setting = await setUp(t, {
    events: (_, response) => {
      sendEvents(response, [state('running'), state('succeeded')], 1);
      cut(response);
    },
    job: (_, response) => sendJson(response, { detail: 'no such job' }, 410),
  });
  const last = await followJob(setting, setting.record.id, { ...FAST, signal: t.signal });
  assert.deepEqual([last.state, last.reason], ['succeeded', null]);
  assert.equal((await spooled(setting.spool)).at(-1)?.event, 'end');
});

test('a job in a state that nobody knows is followed on, and its log says so once', async (t) => {
  const setting = await setUp(t, {
    events: (_, response, attempt) => {
      if (attempt === 12) sendEvents(response, [end], 2);
      else if (attempt === 1) sendEvents(response, [log('a\n')], 1);
      else response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.end();
    },
    job: (_, response) => sendJson(response, { state: 'defrosting' }),
  });
  const last = await followJob(setting, setting.record.id, { ...FAST, signal: t.signal });
  assert.equal(last.exitCode, 0);
  const notes = (await spooled(setting.spool)).filter(({ own }) => own === true);
  assert.deepEqual(
    notes.map(({ event, data }) => [event, data]),
    [
      [
        'gap',
        {
          text: 'The service closed this log. The job\'s state is "defrosting", which Farwharf does not know, so it cannot tell whether the job has ended.',
        },
      ],
    ],
  );
});

test('a refused key ends the following, from the log or from the job', async (t) => {
  for (const status of [401, 403]) {
    const refusing = (_: unknown, response: ServerResponse): void => sendJson(response, { detail: 'no' }, status);
    for (const answers of [
      { events: refusing, job: (_: unknown, response: ServerResponse) => running(response) },
      { events: (_: unknown, response: ServerResponse) => cut(response), job: refusing },
    ]) {
      const setting = await setUp(t, answers);
      const following = followJob(setting, setting.record.id, { ...FAST, signal: t.signal });
      await assert.rejects(following, { status });
    }
  }
});

test('a service with its own field names: events are stored unchanged, and the job shows the end', async (t) => {
  const setting = await setUp(t, {
    events: (_, response) => {
      sendEvents(response, [
        { event: 'message', data: 'plain text line' },
        { event: 'gpu.usage', data: { percent: 97, nested: [1, null] } },
      ]);
      response.end();
    },
    job: (_, response, attempt) =>
      sendJson(response, attempt === 1 ? { status: 'Hibernating' } : { status: 'Completed', cluster: 7 }),
  });
  const seen: string[] = [];
  const onUpdate = ({ state: word }: JobRecord): number => seen.push(word);
  const last = await followJob(setting, setting.record.id, { ...FAST, signal: t.signal, onUpdate });
  assert.equal(last.state, 'Completed');
  assert.ok(seen.includes('Hibernating'));
  assert.equal(last.lastLogLine, 'plain text line');
  const events = await spooled(setting.spool);
  assert.deepEqual(kinds(events), ['message', 'gpu.usage', 'end']);
  assert.deepEqual(events[1]?.data, { percent: 97, nested: [1, null] });
});

test('the end of a job is known from a service without a log, and the gap is drawn', async (t) => {
  const setting = await setUp(t, {
    job: (_, response, attempt) => sendJson(response, attempt < 3 ? { state: 'running' } : done),
  });
  const last = await followJob(setting, setting.record.id, { ...FAST, signal: t.signal });
  assert.equal(last.state, 'succeeded');
  assert.deepEqual(kinds(await spooled(setting.spool)), ['gap', 'end']);
  assert.equal(setting.http.attempts.events, 2 + 5, 'the log is asked for five times after the end');
});

test('two followers: one streams, both end, and the readers of both see every event once', async (t) => {
  await withGrowingLimit(FAST.leaseMs, (leaseMs) => followTwice(t, leaseMs));
});

async function followTwice(t: TestContext, leaseMs: number): Promise<void> {
  const opened = Promise.withResolvers<ServerResponse>();
  const setting = await setUp(t, {
    events: (_, response) => {
      opened.resolve(response);
      sendEvents(response, whole.slice(0, 3), 1);
    },
    job: (_, response) => sendJson(response, done),
  });
  const read = async (): Promise<SpooledEvent[]> =>
    Array.fromAsync(
      watchJob({ ...setting, spool: new EventSpool(setting.home, setting.record.id) }, setting.record.id, {
        ...FAST,
        leaseMs,
        signal: t.signal,
      }),
    );
  const both = Promise.all([read(), read()]);
  const open = await opened.promise;
  await sleep(1.3 * leaseMs); // longer than a lease: it must have been renewed
  sendEvents(open, whole.slice(3), 4);
  open.end();
  const [first, second] = await both;
  assert.deepEqual(kinds(first), kinds(whole as SpooledEvent[]));
  assert.deepEqual(second, first);
  assert.equal(setting.http.attempts.events, 1);
}

test('leaving the loop frees the lease and closes the stream', async (t) => {
  const closed = Promise.withResolvers<void>();
  const setting = await setUp(t, {
    events: (_, response) => {
      response.on('close', () => closed.resolve());
      sendEvents(response, whole.slice(0, 3), 1);
    },
    job: (_, response) => running(response),
  });
  for await (const { event } of watchJob(setting, setting.record.id, { ...FAST, signal: t.signal })) {
    if (event === 'log') break;
  }
  assert.equal(setting.jobs.claim(setting.record.id, 'next', 1_000), true);
  await closed.promise;
});

test('the last line of a job is soon in its record, also if the job then says nothing', async (t) => {
  const shown = { first: Promise.withResolvers<void>(), last: Promise.withResolvers<void>() };
  const setting = await setUp(t, {
    events: async (_, response) => {
      sendEvents(response, [state('running'), log('epoch 1\n')], 1);
      await shown.first.promise;
      sendEvents(response, [log('epoch 2\n')], 3);
      await shown.last.promise;
      sendEvents(response, [end], 4);
      response.end();
    },
    job: (_, response) => sendJson(response, done),
  });
  const onUpdate = ({ lastLogLine }: JobRecord): void => {
    if (lastLogLine === 'epoch 1') shown.first.resolve();
    if (lastLogLine === 'epoch 2') shown.last.resolve();
  };
  await followJob(setting, setting.record.id, { ...FAST, signal: t.signal, onUpdate });
  assert.equal(setting.http.attempts.events, 1, 'no new connection was needed');
});

test('an abort ends the following with its reason', async (t) => {
  const setting = await setUp(t, { events: (_, response) => sendEvents(response, whole.slice(0, 2), 1) });
  const stop = new AbortController();
  const following = followJob(setting, setting.record.id, { ...FAST, signal: stop.signal });
  await sleep(50);
  stop.abort(new Error('enough'));
  await assert.rejects(following, /enough/);
});

test('a job whose ID was never returned cannot be followed, and the error says so', async (t) => {
  const setting = await setUp(t, {}, { jobId: null, state: 'unknown' });
  await assert.rejects(followJob(setting, setting.record.id, { ...FAST, signal: t.signal }), { code: 'missing' });
  setting.jobs.delete(setting.record.id);
  await assert.rejects(followJob(setting, setting.record.id, { ...FAST, signal: t.signal }), {
    code: 'missing',
    message: 'This job is no longer in the list.',
  });
});

test('the job list truncates service text and drops invalid times', async (t) => {
  const huge = 'x'.repeat(1_000_000);
  const setting = await setUp(t, {
    events: (_, response) => {
      const data = { state: `run${huge}`, at: huge, reason: huge };
      sendEvents(
        response,
        [{ event: 'state', data }, log(`${huge}\n`), { event: 'end', data: { state: 'failed', at: 'soon' } }],
        1,
      );
      response.end();
    },
    job: (_, response) =>
      sendJson(response, {
        state: 'failed',
        reason: huge,
        started_at: huge,
        finished_at: 'never',
        machine_class: huge,
      }),
  });
  const last = await followJob(setting, setting.record.id, { ...FAST, signal: t.signal });
  assert.equal(last.state, 'failed');
  assert.equal(last.reason?.length, 2_000);
  assert.equal(last.startedAt, null);
  assert.ok(!Number.isNaN(Date.parse(last.finishedAt ?? '')));
  assert.ok(JSON.stringify(setting.jobs.get(setting.record.id)).length < 5_000);
});

test('the results are counted after the end, also by a process that comes later', async (t) => {
  const artifact: ServerSentEvent = { event: 'artifact', data: { path: 'made.txt', size: 1 } };
  const setting = await setUp(t, {
    events: (_, response) => {
      sendEvents(response, [state('running'), artifact, end], 1);
      response.end();
    },
    job: (_, response) => sendJson(response, done),
  });
  const updates: JobRecord['results'][] = [];
  const onUpdate = ({ results }: JobRecord): void => void updates.push(results);
  const last = await followJob(setting, setting.record.id, { ...FAST, signal: t.signal, onUpdate });
  assert.deepEqual(last.results, { files: 1, added: null });
  assert.deepEqual(updates.at(-1), last.results);
  assert.deepEqual(setting.jobs.get(setting.record.id)?.results, last.results);
  setting.jobs.update(setting.record.id, { results: null });
  const again = await followJob(setting, setting.record.id, { ...FAST, signal: t.signal });
  assert.deepEqual(again.results, last.results);
});
