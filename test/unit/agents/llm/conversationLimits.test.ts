import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import * as z from 'zod';
import {
  type HistoryPolicy,
  LLMClient,
  Node,
  tool,
  ToolNode,
  type ToolRun,
  type TraceEvent,
} from '../../../../src/agents/index.ts';
import { type Answer, chatServer, reply, streamedReply, toolCalls } from './llmServer.ts';

const ROUNDS = 6;
const ask = [
  { role: 'system', content: 'Be brief.' },
  { role: 'user', content: 'Read all pages.' },
];
const page = tool({
  name: 'page',
  description: 'A page.',
  input: z.object({ number: z.number() }),
  run: ({ number }) => `page ${number}: ${'x'.repeat(400)}`,
});

const rounds = Array.from({ length: ROUNDS }, (_, number) =>
  toolCalls(['page', `{"number":${2 * number}}`], ['page', `{"number":${2 * number + 1}}`]),
);

async function client(t: TestContext, ...answers: readonly Answer[]) {
  const { baseUrl, requests } = await chatServer(t, ...answers);
  return { llm: new LLMClient({ baseUrl, model: 'm' }), requests };
}

test('a long result is cut for the model, not in the steps, and the trace says by how much', async (t) => {
  const cases = [
    { text: `${'a'.repeat(30)}${'z'.repeat(30)}`, max: 10, sent: ['a'.repeat(30), 20, 'z'.repeat(10)], tokens: 5 },
    { text: '😀'.repeat(10), max: 3, sent: ['😀'.repeat(4), 10, '😀'], tokens: 3 }, // no half of a character
  ] as const;
  for (const { text, max, sent, tokens } of cases) {
    const { llm, requests } = await client(t, toolCalls(['long', '{}']), reply('Done.'));
    const long = tool({ name: 'long', description: 'Long.', input: z.object({}), run: () => text });
    const events: TraceEvent[] = [];
    class Read extends ToolNode<{ messages: string }> {
      override post(_shared: object, _input: unknown, { steps }: ToolRun): void {
        assert.equal(steps[0]?.output, text);
      }
    }
    const node = new Read({ client: llm, tools: [long], maxResultTokens: max });
    await node.run({ messages: 'Read.' }, { onEvent: (event) => void events.push(event) });
    const [head, omitted, tail] = sent;
    const content = `${head}\n[… ${omitted} characters are left out here …]\n${tail}`;
    assert.equal(requests[1]?.body.messages.at(-1)?.content, content);
    const reported = events.flatMap((event) => (event.type === 'tool' ? [event.omittedTokens] : []));
    assert.deepEqual(reported, [tokens]);
  }
});

/** A node that reads all pages with a policy, and what the requests and the trace had. */
async function readAll(t: TestContext, history: HistoryPolicy, isStreamed = false) {
  const streamedRounds = Array.from({ length: ROUNDS }, (_, number) =>
    streamedReply([], ['page', `{"number":${2 * number}}`], ['page', `{"number":${2 * number + 1}}`]),
  );
  const answers = isStreamed ? [...streamedRounds, streamedReply([{ content: 'Done.' }])] : [...rounds, reply('Done.')];
  const { llm, requests } = await client(t, ...answers);
  class Read extends Node<unknown, unknown, ToolRun> {
    override exec(): Promise<ToolRun> {
      const options = { history };
      return isStreamed ? llm.streamTools(ask, [page], options).result : llm.runTools(ask, [page], options);
    }
    override post(_shared: unknown, _prep: unknown, run: ToolRun): void {
      result = run;
    }
  }
  let result: ToolRun | undefined;
  const reports: TraceEvent[] = [];
  await new Read().run({}, { onEvent: (event) => void (event.type === 'history' && reports.push(event)) });
  return { result, requests: requests.map(({ body }) => body.messages), reports };
}

test('a history policy keeps system messages, the first and the last, and never parts a call and its results', async (t) => {
  for (const isStreamed of [false, true]) {
    const { result, requests, reports } = await readAll(t, { maxTokens: 600 }, isStreamed);
    assert.equal(result?.messages.length, 2 + 3 * ROUNDS + 1); // all of them, for those who go on
    assert.ok(reports.length > 0 && reports.length < ROUNDS, `${reports.length} times`);
    for (const messages of requests) {
      assert.deepEqual(messages.slice(0, 2), ask);
      const called = messages.flatMap(({ role }, index) => (role === 'assistant' ? [index] : []));
      for (const index of called)
        assert.deepEqual([messages[index + 1]?.role, messages[index + 2]?.role], ['tool', 'tool']);
      assert.equal(messages.filter(({ role }) => role === 'tool').length, 2 * called.length);
      assert.ok(JSON.stringify(messages).length < 600 * 4 + 1_200);
    }
    const note = requests.at(-1)?.[2]?.content ?? '';
    const [, leftOut] = /^\[(\d+) earlier messages are left out here\.\]$/.exec(note) ?? [];
    const counted = reports.reduce((sum, event) => sum + (event.type === 'history' ? event.leftOut : 0), 0);
    assert.equal(Number(leftOut), counted);
    assert.equal((requests.at(-1)?.length ?? 0) + counted - 1, 2 + 3 * ROUNDS);
  }
});

test('a summary of what is left out is written by a model, carried on, and counted in the usage', async (t) => {
  const summaries = await chatServer(t, reply('Pages 0 and 1 are blank.'), reply('Pages 0 to 5 are blank.'));
  const summarize = new LLMClient({ baseUrl: summaries.baseUrl, model: 's' });
  const { result, requests, reports } = await readAll(t, { maxTokens: 600, summarize });
  assert.match(
    requests.at(-1)?.[2]?.content ?? '',
    /left out here\. What they said, in short:\nPages 0 to 5 are blank\.\]$/,
  );
  const [, second] = summaries.requests;
  assert.match(
    second?.body.messages[1]?.content ?? '',
    /user: \[\d+ earlier .*\nPages 0 and 1 are blank\.\]\n\nassistant: /,
  );
  assert.equal(reports.length, summaries.requests.length);
  assert.equal(result?.usage.inputTokens, 100 * (ROUNDS + 1 + summaries.requests.length));
});

test('a policy that is not valid is refused', async (t) => {
  const { llm } = await client(t, reply('x'));
  const refused = (history: object): Promise<unknown> => llm.runTools(ask, [], { history: history as HistoryPolicy });
  await assert.rejects(refused({ maxToken: 5 }), /history has no option maxToken. Did you mean maxTokens/);
  await assert.rejects(refused({ maxTokens: 0 }), RangeError);
  await assert.rejects(refused({ maxTokens: 9, summarize: {} }), /summarize of history must be an LLMClient/);
  await assert.rejects(llm.runTools(ask, [], { maxResultTokens: -1 }), RangeError);
});
