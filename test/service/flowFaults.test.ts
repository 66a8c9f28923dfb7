// What can go wrong while a flow talks to its model: each ends the run with an error that names it, and leaves nothing running.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { answerRun } from '../../src/flows/run/history/answerRun.ts';
import { type RecordedRun, runRecorded } from '../../src/flows/run/history/recordedRun.ts';
import { RunHistory } from '../../src/flows/run/history/runHistory.ts';
import {
  type Answer,
  chatServer,
  delta,
  json,
  rateLimited,
  type ReceivedRequest,
  reply,
  streamed,
  toolCalls,
} from '../unit/agents/llm/llmServer.ts';
import { GUARD_MS } from '../unit/timeLimits.ts';
import { FlowFolder, RUNTIME } from './support/flowChild.ts';
import { processesWith } from './support/processes.ts';

interface Fault {
  readonly name: string;
  /** What the model's service does, in turn. */
  readonly answers: readonly Answer[];
  /** How the flow asks its model. */
  readonly exec: string;
  /** Of the run. */
  readonly options?: string;
  /** The error of the run: its name, its code, and what its message says. */
  readonly error?: readonly [name: string, code: string | undefined, message: RegExp];
  /** What the model receives, where the run continues. */
  readonly received?: RegExp;
}

// A flow that leaves something never ends.
const LIMITED = { timeout: GUARD_MS };
const ASK = `return model.ask('Where?');`;
const STREAM = `let text = ''; for await (const piece of model.askStream('Where?')) text += piece; return text;`;
const USE_TOOLS = `const run = await model.runTools([{ role: 'user', content: 'Where?' }], [depth, broken]); return run.text;`;
const cutOff: Answer = (response) => {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  response.write(`data: ${delta('Ber')}\n\n`, () => response.destroy());
};

const FAULTS: readonly Fault[] = [
  {
    name: 'a service that is busy',
    answers: [rateLimited('0')],
    exec: `return model.ask('Where?', { retries: 2 });`,
    error: ['AppError', 'limit', /custom \(stub\).*429/s],
  },
  {
    name: 'a response that is not JSON',
    answers: [(response) => response.writeHead(200, { 'content-type': 'application/json' }).end('{"choices": [')],
    exec: ASK,
    error: ['AppError', 'unreachable', /custom \(stub\): the reply could not be read to its end/],
  },
  {
    name: 'a reply that does not match its schema',
    answers: [reply('{"port": 7')],
    exec: `return model.ask('Where?', { schema: z.object({ port: z.string() }) });`,
    error: ['AppError', 'corrupt', /schema/],
  },
  {
    name: 'a refusal',
    answers: [reply(null, { message: { refusal: 'I will not.' } })],
    exec: ASK,
    error: ['RefusalError', undefined, /custom \(stub\) declined to answer: I will not\./],
  },
  {
    name: 'a stream that breaks off',
    answers: [cutOff],
    exec: STREAM,
    error: ['AppError', 'unreachable', /custom \(stub\)/],
  },
  {
    name: 'a tool that gets wrong arguments',
    answers: [toolCalls(['depth', '{"metres":"deep"}']), reply('Bergen')],
    exec: USE_TOOLS,
    received: /metres/,
  },
  {
    name: 'a tool that gets no JSON',
    answers: [toolCalls(['depth', '{"metres":']), reply('Bergen')],
    exec: USE_TOOLS,
    received: /JSON/,
  },
  {
    name: 'a tool that throws',
    answers: [toolCalls(['broken', '{}']), reply('Bergen')],
    exec: USE_TOOLS,
    received: /the disk is full/,
  },
  {
    name: 'a time limit in the middle of a stream that hangs',
    answers: [streamed([delta('Ber')], { isEnded: false })],
    exec: STREAM,
    options: '{ maxSeconds: 0.5 }',
    error: ['BudgetError', undefined, /maxSeconds/],
  },
  {
    name: 'a token limit that a stream exceeds',
    answers: [streamed([delta('x'.repeat(400)), delta('', 'stop')])],
    exec: `${STREAM.replace('return text;', '')} return model.ask('And then?');`,
    options: '{ maxTokens: 50 }',
    error: ['BudgetError', undefined, /maxTokens/],
  },
];

/** A flow of one node that runs itself, and ends only when no timer and no connection is left of its run. */
const flowWith = (baseUrl: string, { exec, options = '{}' }: Pick<Fault, 'exec' | 'options'>): string => `
import * as z from 'zod';
import { Flow, LLMClient, Node, tool } from 'farwharf/agents';
const model = new LLMClient({ baseUrl: '${baseUrl}', model: 'stub', apiKey: 'key' });
const depth = tool({ name: 'depth', description: 'Depth.', input: z.object({ metres: z.number() }), run: () => 12 });
const broken = tool({ name: 'broken', description: 'Fails.', input: z.object({}), run() { throw new Error('the disk is full'); } });
class Ask extends Node {
  async exec() { ${exec} }
  post(shared, _, answer) { shared.answer = answer; }
}
const ask = new Ask();
const flow = new Flow({ start: ask, name: 'Ask' }).connect(ask, null);
const isLeft = () => process.getActiveResourcesInfo().some((each) => each === 'Timeout' || each.startsWith('TCP'));
try {
  await flow.run({}, ${options});
} finally {
  while (isLeft()) await new Promise((resolve) => setImmediate(resolve));
}
`;

const lastReceived = (requests: readonly ReceivedRequest[]): string =>
  requests.at(-1)?.body.messages.at(-1)?.content ?? '';

for (const { name, answers, error, received, ...fault } of FAULTS) {
  test(
    `${name} ${error === undefined ? 'is reported to the model' : 'ends the run by its name'}, and nothing is left`,
    LIMITED,
    async (t) => {
      const { baseUrl, requests } = await chatServer(t, ...answers);
      await using folder = await FlowFolder.create({ 'ask.mjs': flowWith(baseUrl, fault) });
      const { outcome } = await folder.run('ask.mjs');
      if (error !== undefined) {
        assert.ok(outcome.type === 'failed', JSON.stringify(outcome));
        const { name: errorName, code, message } = outcome.error;
        assert.deepEqual([errorName, code], error.slice(0, 2), message);
        assert.match(message, error[2]);
      }
      if (received !== undefined) {
        assert.deepEqual(outcome.type === 'done' && outcome.shared, { answer: 'Bergen' });
        assert.match(lastReceived(requests), received);
      }
      assert.deepEqual(processesWith(folder.path), []);
    },
  );
}

test(
  'a run that waits is continued by a new process after all others are gone, and nothing is left',
  LIMITED,
  async (t) => {
    const { baseUrl } = await chatServer(t, json(200, {}), reply('Bergen'));
    await using folder = await FlowFolder.create();
    const file = await folder.write(
      'review.mjs',
      `import { Flow, LLMClient, Node, pause } from 'farwharf/agents';
    const model = new LLMClient({ baseUrl: '${baseUrl}', model: 'stub', apiKey: 'key' });
    class Review extends Node {
      post(shared) { shared.asked = process.pid; return pause({ question: 'Publish it?', choices: ['yes', 'no'] }); }
      answer(shared, input) { shared.published = input; }
    }
    class Ask extends Node {
      prep(shared) { return shared.asked; }
      async exec(asked) {
        await model.ask('Where?').catch(() => {});
        return [asked !== process.pid, await model.ask('Where?')];
      }
      post(shared, _, answer) { shared.answer = answer; }
    }
    const [review, ask] = [new Review(), new Ask()];
    export const flow = new Flow({ start: review, name: 'Publish' }).connect(review, ask).connect(ask, null);`,
    );
    const options = { signal: new AbortController().signal, onEvent: () => {} };
    const place = { cwd: folder.path, env: process.env };
    const { record }: RecordedRun = await runRecorded(
      new RunHistory(folder.path),
      RUNTIME,
      { file, ...place },
      options,
    );
    assert.equal(record.outcome?.type, 'waiting');
    assert.deepEqual(processesWith(folder.path), []);
    const { outcome } = await answerRun(
      new RunHistory(folder.path),
      RUNTIME,
      { record, input: 'yes', ...place },
      options,
    );
    const shared = outcome.type === 'done' ? outcome.shared : outcome;
    assert.match(JSON.stringify(shared), /"published":"yes","answer":\[true,"Bergen"\]/);
    assert.deepEqual(processesWith(folder.path), []);
  },
);
