import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { test, type TestContext } from 'node:test';
import type { RemoteClient } from '../../../../src/remote/client.ts';
import { followEvents } from '../../../../src/remote/events/followEvents.ts';
import type { JobEvent } from '../../../../src/remote/events/jobEvent.ts';
import { rejection } from '../../rejection.ts';
import { answerJson, serve } from '../server.ts';

/** What a service does with one request for the events: sends these, then ends, breaks or refuses the response. */
type Connection = readonly [events: string, end: 'end' | 'break' | 401 | 503];

const log = (text: string, id?: number): string =>
  `event: log\n${id === undefined ? '' : `id: ${id}\n`}data: ${JSON.stringify({ stream: 'stdout', text })}\n\n`;
const END = 'event: end\ndata: {"state":"succeeded","credits_charged":1}\n\n';

interface Site {
  readonly client: RemoteClient;
  /** The `Last-Event-ID` of each request. */
  readonly asked: (string | undefined)[];
}

/** A service whose connections go as listed; the last one repeats. */
async function site(t: TestContext, connections: readonly Connection[], state = 'running'): Promise<Site> {
  const asked: (string | undefined)[] = [];
  const { client } = await serve(t, (request, response: ServerResponse) => {
    if (request.url === '/v1/jobs/j') return answerJson(response, { job_id: 'j', state });
    const [events, end] = connections[Math.min(asked.length, connections.length - 1)] ?? ['', 'end'];
    asked.push(request.headers['last-event-id'] as string | undefined);
    if (typeof end === 'number') return answerJson(response, { detail: 'no' }, end);
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(events, () => (end === 'end' ? response.end() : response.socket?.resetAndDestroy()));
  });
  return { client, asked };
}

const textOf = (event: JobEvent): string => (event.event === 'log' ? event.data.text : event.event);

async function textsOf(events: AsyncIterable<JobEvent>): Promise<string[]> {
  return (await Array.fromAsync(events)).map(textOf);
}

const follow = ({ client }: Site, options = {}): Promise<string[]> =>
  textsOf(followEvents(client, 'j', options, { firstMs: 1, factor: 1 }));

test('events that are numbered are each received once, over connections that break', async (t) => {
  const place = await site(t, [
    [log('a', 1) + log('b', 2), 'break'],
    ['', 503],
    [log('b', 2) + log('c', 3), 'end'],
    [log('a', 1) + log('b', 2) + log('c', 3) + log('d', 4) + END, 'end'],
  ]);
  assert.deepEqual(await follow(place), ['a', 'b', 'c', 'd', 'end']);
  assert.deepEqual(place.asked, [undefined, '2', '2', '3']);
});

test('events without numbers that the service sends again are recognized, and equal ones are not lost', async (t) => {
  let gaps = 0;
  const onGap = (): void => void (gaps += 1);
  const place = await site(t, [
    [log('a') + log('a') + log('b'), 'break'],
    [log('a') + log('a'), 'break'],
    [log('a') + log('a') + log('b') + log('b') + END, 'end'],
  ]);
  assert.deepEqual(await follow(place, { onGap }), ['a', 'a', 'b', 'b', 'end']);
  assert.deepEqual([gaps, place.asked], [0, [undefined, undefined, undefined]]);
});

test('a service that continues without numbers may have lost events, which is reported', async (t) => {
  let gaps = 0;
  const place = await site(t, [
    [log('a') + log('b'), 'break'],
    [log('d') + END, 'end'],
  ]);
  assert.deepEqual(await follow(place, { onGap: () => void (gaps += 1) }), ['a', 'b', 'd', 'end']);
  assert.equal(gaps, 1);
});

test('a job that is over ends the stream although the service sends no `end` event', async (t) => {
  for (const state of ['failed', 'COMPLETED']) {
    const place = await site(t, [[log('a') + log('b'), 'end']], state);
    assert.deepEqual(await follow(place), ['a', 'b']);
  }
});

test('what the service refuses is thrown at once, and a lost service after the longest outage', async (t) => {
  const refused = await site(t, [['', 401]]);
  assert.equal((await rejection(follow(refused))).name, 'AuthError');
  assert.equal(refused.asked.length, 1);
  const { client } = await site(t, []);
  const gone = { getJob: client.getJob.bind(client), streamEvents: client.streamEvents.bind(client) };
  await client.close();
  assert.match(
    (await rejection(textsOf(followEvents(gone, 'j', {}, { firstMs: 1, factor: 1 })))).message,
    /client is closed/,
  );
  const error = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });
  let tries = 0;
  const lost = {
    getJob: () => Promise.reject(error),
    streamEvents: () => {
      tries += 1;
      throw error;
    },
  };
  assert.equal(
    await rejection(textsOf(followEvents(lost, 'j', { maxOutage: 0.05 }, { firstMs: 1, factor: 1 }))),
    error,
  );
  assert.ok(tries > 1, `${tries} tries`);
});

test('leaving the loop, disposing and aborting end the following', async (t) => {
  const { client, asked } = await site(t, [[log('a', 1), 'break']]);
  for await (const event of client.followEvents('j')) {
    assert.equal(textOf(event), 'a');
    break;
  }
  assert.equal(asked.length, 1);
  const stream = client.followEvents('j');
  const reading = textsOf(stream);
  await new Promise((resolve) => setImmediate(resolve));
  await stream[Symbol.asyncDispose]();
  assert.ok((await reading).length <= 1);
  const controller = new AbortController();
  const aborted = rejection(textsOf(client.followEvents('j', { signal: controller.signal })));
  controller.abort(new Error('enough'));
  assert.equal((await aborted).message, 'enough');
  assert.throws(() => client.followEvents('..'), { code: 'bad-input' });
});
