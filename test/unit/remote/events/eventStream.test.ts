import assert from 'node:assert/strict';
import type { IncomingMessage } from 'node:http';
import { test } from 'node:test';
import { serve } from '../server.ts';

test('a stream requests events when the first is wanted, and continues after the last ID', async (t) => {
  const requests: IncomingMessage[] = [];
  const { client } = await serve(t, (request, response) => {
    requests.push(request);
    response
      .writeHead(200, { 'content-type': 'text/event-stream' })
      .end('id: 8\nevent: log\ndata: {"text":"x"}\n\ndata: y');
  });
  const stream = client.streamEvents('j1', { lastEventId: '7' });
  await new Promise((resolve) => setTimeout(resolve, 30));
  assert.equal(requests.length, 0);
  assert.deepEqual(await Array.fromAsync(stream), [
    { event: 'log', data: { text: 'x' }, id: '8' },
    { event: 'message', data: 'y' },
  ]);
  const [request] = requests;
  assert.equal(request?.url, '/v1/jobs/j1/events');
  assert.equal(request.headers.accept, 'text/event-stream');
  assert.equal(request.headers['last-event-id'], '7');
  assert.deepEqual(await Array.fromAsync(client.streamEvents('j1')), await Array.fromAsync(client.streamEvents('j2')));
  assert.equal(requests[1]?.headers['last-event-id'], undefined);
  await Array.fromAsync(client.streamEvents('j1', { lastEventId: '' })); // as after an event with an empty `id:`
  assert.equal(requests[3]?.headers['last-event-id'], undefined);
});

test('leaving the loop closes the response', async (t) => {
  for (const options of [{}, { fetch }]) {
    const closed = Promise.withResolvers<void>();
    const { client } = await serve(
      t,
      (_request, response) => {
        response.once('close', closed.resolve);
        response.write('data: 1\n\ndata: 2\n\n');
      },
      options,
    );
    for await (const { data } of client.streamEvents('j')) {
      assert.equal(data, 1);
      break;
    }
    await closed.promise;
  }
});

test('disposing a stream closes the response and ends a loop that waits for the next event', async (t) => {
  const closed = Promise.withResolvers<void>();
  const { client } = await serve(t, (_request, response) => {
    response.once('close', closed.resolve);
    response.write('data: 1\n\n');
  });
  const stream = client.streamEvents('j');
  const seen: unknown[] = [];
  for await (const { data } of stream) {
    seen.push(data);
    setTimeout(() => void stream[Symbol.asyncDispose](), 30);
  }
  await closed.promise;
  assert.deepEqual(seen, [1]);
});

test('a stream that was never read is disposed without a request', async (t) => {
  let asked = 0;
  const { client } = await serve(t, () => (asked += 1));
  {
    await using stream = client.streamEvents('j');
    assert.ok(stream);
  }
  assert.equal(asked, 0);
});

test("an abort ends a stream with the signal's reason", async (t) => {
  const { client } = await serve(t, (_request, response) => void response.write('data: 1\n\n'));
  const controller = new AbortController();
  await assert.rejects(async () => {
    for await (const _event of client.streamEvents('j', { signal: controller.signal })) {
      setTimeout(() => controller.abort(new Error('enough')), 20);
    }
  }, /^Error: enough$/);
});

test('a connection that is cut is an error, not the end of the events', async (t) => {
  const { client } = await serve(t, (_request, response) => {
    response.write('data: 1\n\n');
    setTimeout(() => response.socket?.resetAndDestroy(), 30);
  });
  const seen: unknown[] = [];
  await assert.rejects(
    async () => {
      for await (const { data } of client.streamEvents('j')) seen.push(data);
    },
    { code: 'ECONNRESET' },
  );
  assert.deepEqual(seen, [1]);
});

test('an event ID that is invalid in a header does not end the stream; others are sent back unchanged', async (t) => {
  const sent: (string | undefined)[] = [];
  const { client } = await serve(t, (request, response) => {
    const id = request.headers['last-event-id'];
    sent.push(id === undefined ? undefined : Buffer.from(String(id), 'latin1').toString());
    response.end(`id: \u0001x\ndata: 1\n\nid: ${'7'.repeat(100_000)}\ndata: 2\n\nid: é-ключ-🔑\ndata: 3\n\n`);
  });
  const first = await Array.fromAsync(client.streamEvents('j'));
  assert.deepEqual(
    first.map(({ data, id }) => ({ data, id })),
    [
      { data: 1, id: undefined },
      { data: 2, id: undefined },
      { data: 3, id: 'é-ключ-🔑' },
    ],
  );
  const { id } = first[2] ?? {};
  // The last two are in logs that an earlier version has kept.
  for (const lastEventId of [id ?? '', '\u0001x', '7'.repeat(100_000)]) {
    assert.equal((await Array.fromAsync(client.streamEvents('j', { lastEventId }))).length, 3);
  }
  assert.deepEqual(sent, [undefined, 'é-ключ-🔑', undefined, undefined]);
});
