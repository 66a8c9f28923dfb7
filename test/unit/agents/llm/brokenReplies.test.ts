import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { AppError, LLMClient, Node, type TraceEvent } from '../../../../src/agents/index.ts';
import { GUARD_MS, withGrowingLimit } from '../../timeLimits.ts';
import { type Answer, chatServer, delta, json, rateLimited, reply, streamed } from './llmServer.ts';

async function client(t: TestContext, ...answers: readonly Answer[]): Promise<LLMClient> {
  const { baseUrl } = await chatServer(t, ...answers);
  return new LLMClient({ baseUrl, model: 'test-model' });
}

async function failure(promise: Promise<unknown>): Promise<AppError> {
  const error: unknown = await promise.then(
    () => new Error('nothing was thrown'),
    (reason: unknown) => reason,
  );
  assert.ok(error instanceof AppError, String(error));
  return error;
}

/** The pieces of a stream that fails, and its error. */
async function brokenStream(
  stream: AsyncIterable<string>,
  onPiece: () => Promise<unknown> = async () => {},
): Promise<{ pieces: string[]; error: AppError }> {
  const pieces: string[] = [];
  const read = async (): Promise<void> => {
    for await (const piece of stream) {
      pieces.push(piece);
      if (pieces.length === 1) await onPiece();
    }
  };
  return { error: await failure(read()), pieces };
}

const halfJson: Answer = (response) => {
  response.writeHead(200, { 'content-type': 'application/json' }).write('{"id":"chatcmpl-1","choi');
};

test('the timeout also ends a reply that stops in the middle', { timeout: GUARD_MS }, async (t) => {
  const llm = await client(t, halfJson);
  // On a busy machine, even the beginning may take longer than a short limit.
  await withGrowingLimit(50, async (limitMs) => {
    const timeout = limitMs / 1_000;
    const error = await failure(llm.ask('x', { timeout }));
    assert.equal(error.code, 'unreachable');
    assert.match(error.message, new RegExp(`did not respond within ${timeout} s`));
  });
});

test('the timeout of a stream limits each silence, but not the time of its reader', {
  timeout: GUARD_MS,
}, async (t) => {
  const llm = await client(t, streamed([delta('one'), delta('two')], { isEnded: false }));
  await withGrowingLimit(1_000, async (limitMs) => {
    const timeout = limitMs / 1_000;
    const { pieces, error } = await brokenStream(llm.askStream('x', { timeout }), () => sleep(1.1 * limitMs));
    assert.deepEqual(pieces, ['one', 'two']);
    assert.equal(error.code, 'unreachable');
    assert.match(error.message, new RegExp(`did not respond within ${timeout} s`));
  });
});

test('the wait for a rate limit does not count as silence', { timeout: GUARD_MS }, async (t) => {
  await withGrowingLimit(1_500, async (limitMs) => {
    const llm = await client(
      t,
      rateLimited(String(Math.ceil((1.3 * limitMs) / 1_000))),
      streamed([delta('Hi', 'stop')]),
    );
    assert.deepEqual(await Array.fromAsync(llm.askStream('x', { timeout: limitMs / 1_000 })), ['Hi']);
  });
});

test('a stream that ends before the reply is complete is an error', async (t) => {
  const llm = await client(t, streamed([delta('The answer is '), delta('not')]));
  const { pieces, error } = await brokenStream(llm.askStream('x'));
  assert.deepEqual(pieces, ['The answer is ', 'not']);
  assert.equal(error.code, 'unreachable');
  assert.match(error.message, /custom \(test-model\): the reply ended before it was complete\. Try again\.$/);
});

test('a stream whose last chunk has only the usage is complete', async (t) => {
  const usage = JSON.stringify({ choices: [], usage: { prompt_tokens: 1, completion_tokens: 1 } });
  const llm = await client(t, streamed([delta('Hi'), usage]));
  assert.deepEqual(await Array.fromAsync(llm.askStream('x')), ['Hi']);
});

test('a failure in the middle of a reply is not taken for a wrong address', async (t) => {
  const cut: Answer = (response, request) => {
    streamed([delta('a')], { isEnded: false })(response, request);
    setTimeout(() => response.destroy(), 20);
  };
  const overloaded = streamed([delta('a'), JSON.stringify({ error: { message: 'overloaded' } })]);
  for (const [answer, message] of [
    [cut, /: the reply could not be read to its end: .*\. Try again\.$/],
    [overloaded, /: the service reported an error instead of the rest of the reply: overloaded\. Try again later\.$/],
  ] as const) {
    const llm = await client(t, answer);
    assert.match((await brokenStream(llm.askStream('x'))).error.message, message);
  }
  const llm = await client(t, (response) => {
    response.writeHead(200, { 'content-type': 'application/json' }).end('{"choi');
  });
  assert.match((await failure(llm.ask('x'))).message, /: the reply could not be read to its end: .*\. Try again\.$/);
});

test('an answer of another kind of server says what to check', async (t) => {
  const llm = await client(t, json(200, { hello: 'world' }));
  const message = /HTTP 200 without a completion: .*world.*\. Check that http:.*\/v1 is a chat completions API\.$/;
  assert.match((await failure(llm.ask('x'))).message, message);
});

test('the trace shows a wait for a rate limit before it begins', async (t) => {
  const llm = await client(t, rateLimited('1'), reply('Fine.'));
  class Ask extends Node<object> {
    override async exec(): Promise<string> {
      return llm.ask('x');
    }
  }
  const events: TraceEvent[] = [];
  const began = performance.now();
  let shownAfterMs = Number.POSITIVE_INFINITY;
  await new Ask().run(
    {},
    {
      onEvent: (event) => {
        if (event.type === 'wait') shownAfterMs = performance.now() - began;
        events.push(event);
      },
    },
  );
  const wait = events.find(({ type }) => type === 'wait');
  assert.ok(wait?.type === 'wait');
  const { node, provider, model, waitMs } = wait;
  assert.deepEqual(
    { node, provider, model, waitMs },
    { node: 'Ask', provider: 'custom', model: 'test-model', waitMs: 1_000 },
  );
  assert.ok(shownAfterMs + waitMs <= performance.now() - began, 'it was shown after the wait');
});

test('the error of a rate limit says how long the service asks you to wait', async (t) => {
  const llm = await client(t, rateLimited('3600'));
  const error = await failure(llm.ask('x', { retries: 0 }));
  assert.match(
    error.message,
    /429: too many requests\. The rate limit or the quota is used up, and the service asks you to wait 1 h, longer than the 60 s that a request waits by itself: wait, or raise the limit\.$/,
  );
});
