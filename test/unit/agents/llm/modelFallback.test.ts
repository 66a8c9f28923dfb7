import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import * as z from 'zod';
import {
  AppError,
  BudgetError,
  LLMClient,
  type LLMClientOptions,
  Node,
  RefusalError,
  tool,
  type TraceEvent,
} from '../../../../src/agents/index.ts';
import { type Answer, chatServer, delta, json, reply, streamed, streamedReply, toolCalls } from './llmServer.ts';

const ask = [{ role: 'user', content: 'x' }];
const once = { retries: 0 };
const down = json(503, { error: { message: 'overloaded' } });
const price = { input: 1, output: 1 };

/** A client of a first service, whose requests a second one takes over. */
async function pair(
  t: TestContext,
  first: readonly Answer[],
  second: readonly Answer[],
  options: LLMClientOptions = {},
) {
  const [one, two] = [await chatServer(t, ...first), await chatServer(t, ...second)];
  const fallback = [new LLMClient({ baseUrl: two.baseUrl, model: 'second', price })];
  const llm = new LLMClient({ baseUrl: one.baseUrl, model: 'first', price, ...options, fallback });
  return { llm, first: one.requests, second: two.requests };
}

test('a second model answers when the first fails for good, and the reply and the trace name it', async (t) => {
  const gone = json(404, { error: { message: 'no such model' } });
  const refused = json(401, { error: { message: 'bad key' } });
  const busy = json(429, { error: { message: 'slow down' } }, { 'retry-after': '3600' });
  const cut = reply('Half of i', { finish_reason: 'length' });
  const html: Answer = (response) => response.end('<html>');
  for (const failing of [down, gone, refused, busy, html]) {
    const { llm } = await pair(t, [failing], [reply('Hello.')]);
    const { content, provider, model } = await llm.chatWithTools(ask, once);
    assert.deepEqual([content, provider, model], ['Hello.', llm.provider, 'second']);
  }
  const { llm, first } = await pair(t, [cut], [reply('Hello.')]);
  class Ask extends Node {
    override exec(): Promise<string> {
      return llm.ask('x');
    }
  }
  const events: TraceEvent[] = [];
  await new Ask().run({}, { onEvent: (event) => void events.push(event) });
  assert.equal(first.length, 1);
  const named = events.flatMap((event) => {
    if (event.type === 'model') return [event.model];
    return event.type === 'model-fallback' ? [`${event.model} > ${event.nextModel}: ${event.message}`] : [];
  });
  assert.deepEqual(
    named.map((text) => text.replace(/: .*cut off.*/, '')),
    ['first', 'first > second', 'second'],
  );
});

test('the budget counts what both models used, and what it refuses is not passed on', async (t) => {
  const { llm, second } = await pair(t, [reply('', {})], [reply('Hello.')]);
  class Ask extends Node {
    override async exec(): Promise<void> {
      await llm.ask('x');
      await llm.ask('x');
    }
  }
  const run = new Ask().run({}, { maxTokens: 240 });
  await assert.rejects(run, (error) => error instanceof BudgetError && error.spent.tokens === 240);
  assert.equal(second.length, 1);
});

test('a request that is wrong, a model that declines, and an abort are not passed on', async (t) => {
  const wrong = json(400, { error: { message: 'unknown field' } });
  const declined = reply(null, { message: { refusal: 'No.' } });
  const { llm, second } = await pair(t, [wrong, declined], [reply('Hello.')]);
  await assert.rejects(llm.ask('x', once), /unknown field/);
  await assert.rejects(llm.ask('x', once), RefusalError);
  const controller = new AbortController();
  const aborting: Answer = (response) => {
    controller.abort(new AppError('unreachable', 'The user left.'));
    response.end();
  };
  const { llm: left, second: unused } = await pair(t, [aborting], [reply('Hello.')]);
  await assert.rejects(left.ask('x', { signal: controller.signal }), /The user left/);
  assert.deepEqual([second.length, unused.length], [0, 0]);
});

test('each model gets a schema as its own service takes it', async (t) => {
  const value = '{"city":"Oslo"}';
  const options = { provider: 'openai', apiKey: 'k' };
  const { llm, first, second } = await pair(t, [down], [reply('{"town":1}'), reply(value)], options);
  assert.deepEqual(await llm.ask('x', { schema: z.object({ city: z.string() }), ...once }), { city: 'Oslo' });
  assert.equal(first[0]?.body.response_format?.json_schema.strict, true);
  assert.deepEqual(
    second.map(({ body }) => [body.response_format, body.messages.length]),
    [
      [undefined, 2],
      [undefined, 4],
    ],
  );
});

test('a stream is passed on until its first piece was read', async (t) => {
  const read = async (stream: AsyncIterable<unknown>): Promise<unknown[]> => Array.fromAsync(stream);
  const broken = streamed([JSON.stringify({ error: { message: 'overloaded' } })]);
  const { llm } = await pair(t, [broken], [streamedReply([{ content: 'Hello.' }])]);
  assert.deepEqual(await read(llm.askStream('x', once)), ['Hello.']);
  const late = streamed([delta('Hel'), JSON.stringify({ error: { message: 'overloaded' } })]);
  const { llm: begun, second } = await pair(t, [late], [reply('Hello.')]);
  const pieces: unknown[] = [];
  const reading = (async () => {
    for await (const piece of begun.askStream('x', once)) pieces.push(piece);
  })();
  await assert.rejects(reading, /first.*overloaded/);
  assert.deepEqual([pieces, second.length], [['Hel'], 0]);
});

test('a tool loop stays with the model that took over', async (t) => {
  const noop = tool({ name: 'noop', description: 'Nothing.', input: z.object({}), run: () => 'ok' });
  const calls = ['noop', '{}'] as const;
  const { llm, first, second } = await pair(t, [toolCalls(calls), down], [toolCalls(calls), reply('Done.')]);
  const { text, steps } = await llm.runTools(ask, [noop], once);
  assert.deepEqual([text, steps.length, first.length, second.length], ['Done.', 2, 2, 2]);
  const streaming = await pair(t, [down], [streamedReply([], calls), streamedReply([{ content: 'Done.' }])]);
  assert.equal((await streaming.llm.streamTools(ask, [noop], once).result).text, 'Done.');
  assert.deepEqual([streaming.first.length, streaming.second.length], [1, 2]);
});

test('a streamed request that fails before its reply is no call of the model, and spends nothing', async (t) => {
  const { llm } = await pair(t, [down], [streamedReply([{ content: 'Done.' }])]);
  class Ask extends Node {
    override async exec(): Promise<void> {
      await Array.fromAsync(llm.askStream('x', once));
    }
  }
  const models: string[] = [];
  const onEvent = (event: TraceEvent): void => void (event.type === 'model' && models.push(event.model));
  await new Ask().run({}, { maxTokens: 120, onEvent });
  assert.deepEqual(models, ['second']);
});

test('if all fail, the error names each, and only clients can take over', async (t) => {
  const { llm } = await pair(t, [down], [json(404, { error: { message: 'gone' } })]);
  await assert.rejects(llm.ask('x', once), (error) => {
    assert.ok(error instanceof AppError);
    assert.equal(error.code, 'missing');
    assert.match(
      error.message,
      /^None of the 2 models answered:\n- .*\(first\): .*overloaded.*\n- .*\(second\): .*gone/,
    );
    return true;
  });
  const wrong = { fallback: ['gpt-5'] } as never;
  assert.throws(() => new LLMClient(wrong), /The option fallback of new LLMClient must be an array of clients/);
});
