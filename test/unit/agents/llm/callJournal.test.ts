import assert from 'node:assert/strict';
import { appendFileSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import * as z from 'zod';
import {
  BatchNode,
  type Checkpoint,
  Flow,
  LLMClient,
  Node,
  ParallelBatchNode,
  ParallelFlow,
  pause,
  PausedError,
  Recording,
  type RunToolsOptions,
  tool,
  ToolNode,
  type ToolRun,
  type TraceEvent,
} from '../../../../src/agents/index.ts';
import { type Answer, chatServer, json, reply, toolCalls } from './llmServer.ts';

interface Mail {
  readonly to: string;
  readonly id: string;
}
const sent: Mail[] = [];
const send = tool({
  name: 'send',
  description: 'Sends a mail.',
  input: z.object({ to: z.string() }),
  run({ to }, { callId }) {
    sent.push({ to, id: callId });
    return `sent to ${to}`;
  },
});
const down = json(400, { error: { message: 'broken' } });
const ask = (content: string): { role: string; content: string }[] => [{ role: 'user', content }];

async function client(t: TestContext, ...answers: readonly Answer[]) {
  sent.length = 0;
  const { baseUrl, requests } = await chatServer(t, ...answers);
  return { llm: new LLMClient({ baseUrl, model: 'm' }), requests };
}

async function paused(run: Promise<unknown>): Promise<PausedError> {
  const error: unknown = await run.then(
    () => assert.fail('it did not pause'),
    (thrown: unknown) => thrown,
  );
  assert.ok(error instanceof PausedError, String(error));
  return error;
}

const throughJson = (checkpoint: Checkpoint): Checkpoint => JSON.parse(JSON.stringify(checkpoint)) as Checkpoint;
const recipients = (): readonly string[] => sent.map(({ to }) => to);
const approve: RunToolsOptions['approve'] = () => pause({ question: 'Send it?' });

interface Shared {
  kept?: number;
  text?: string;
  errors?: unknown[];
}

class Agent extends Node<Shared, string, ToolRun> {
  readonly llm: LLMClient;
  readonly options: RunToolsOptions;

  constructor(llm: LLMClient, options: RunToolsOptions = {}, maxRetries = 1) {
    super({ name: 'Agent', maxRetries });
    this.llm = llm;
    this.options = options;
  }

  override prep(): string {
    return 'Write to both.';
  }

  override exec(prompt: string): Promise<ToolRun> {
    return this.llm.runTools(ask(prompt), [send], this.options);
  }

  override post(shared: Shared, _prompt: string, run: ToolRun): void {
    shared.text = run.text;
    shared.errors = run.steps.map(({ error }) => error);
  }
}

const both = toolCalls(['send', '{"to":"ann"}'], ['send', '{"to":"bob"}']);

test('a retry of a node asks the model only for what is missing, and runs no finished call again', async (t) => {
  const { llm, requests } = await client(t, both, down, reply('Done.'));
  const shared: { text?: string } = {};
  const events: TraceEvent[] = [];
  await new Agent(llm, {}, 3).run(shared, { onEvent: (event) => void events.push(event) });
  assert.equal(shared.text, 'Done.');
  assert.deepEqual(recipients(), ['ann', 'bob']);
  assert.equal(requests.length, 3);
  const reports = events.flatMap((event) => (event.type === 'tool' ? [event.isReplayed] : []));
  assert.deepEqual(reports, [undefined, undefined, true, true]);
});

test('the same call is run as often as one attempt asks for it, and equal requests get replies of their own', async (t) => {
  const { llm, requests } = await client(
    t,
    toolCalls(['send', '{"to":"ann"}'], ['send', '{"to":"ann"}']),
    reply('One.'),
    toolCalls(['send', '{"to":"ann"}']),
    reply('Two.'),
  );
  class Twice extends Node<object, undefined, string> {
    override async exec(): Promise<string> {
      const first = await llm.runTools(ask('Write.'), [send]);
      return first.text + (await llm.runTools(ask('Write.'), [send])).text;
    }
  }
  await new Twice().run({});
  assert.deepEqual(recipients(), ['ann', 'ann', 'ann']);
  assert.equal(requests.length, 4);
});

test('a pause of approve ends the run before the call, and yes runs exactly that call, without the model', async (t) => {
  for (const [input, isRun] of [
    ['yes', true],
    [true, true],
    ['no', false],
    ['Yes, but later', false],
    [{ approved: true }, false],
  ] as const) {
    const { llm, requests } = await client(t, both, reply('Done.'));
    const gate = (call: { input: unknown }) =>
      JSON.stringify(call.input).includes('bob') ? pause({ question: 'Send it?' }) : true;
    const flow = (): Flow<Shared> => {
      const agent = new Agent(llm, { approve: gate }, 3);
      return new Flow<Shared>({ start: agent, name: 'main' }).connect(agent, null);
    };
    const { question, checkpoint } = await paused(flow().run({ kept: 1 }));
    assert.equal(question, 'Send it? send {"to":"bob"}');
    assert.deepEqual(checkpoint.pause?.call, { name: 'send', input: { to: 'bob' } });
    assert.deepEqual(recipients(), ['ann']);
    assert.equal(requests.length, 1);
    const shared: Shared = {};
    await flow().run(shared, { resume: throughJson(checkpoint), input });
    assert.deepEqual(recipients(), isRun ? ['ann', 'bob'] : ['ann']);
    assert.equal(requests.length, 2);
    assert.deepEqual(shared, {
      kept: 1,
      text: 'Done.',
      errors: [undefined, isRun ? undefined : 'Error: the user refused this call.'],
    });
  }
});

test('calls that need a person are asked one after another, also in a ToolNode', async (t) => {
  const { llm, requests } = await client(t, both, reply('Done.'));
  const node = (): ToolNode<{ messages: string; answer?: string }> =>
    new ToolNode({ client: llm, tools: [send], approve, name: 'Mail' });
  const first = await paused(node().run({ messages: 'Write.' }));
  const second = await paused(node().run({ messages: '' }, { resume: throughJson(first.checkpoint), input: 'no' }));
  assert.equal(second.question, 'Send it? send {"to":"bob"}');
  const shared: { messages: string; answer?: string } = { messages: '' };
  await node().run(shared, { resume: throughJson(second.checkpoint), input: true });
  assert.equal(shared.answer, 'Done.');
  assert.deepEqual(recipients(), ['bob']);
  assert.equal(requests.length, 2);
});

test('a call waits in nested and parallel flows while the others go on', async (t) => {
  const { llm, requests } = await client(t, toolCalls(['send', '{"to":"ann"}']), reply('Done.'));
  type State = { text?: string; log: string[] };
  const make = (): Flow<State> => {
    const agent = new Agent(llm, { approve });
    const inner = new Flow<State>({ start: agent, name: 'inner' }).connect(agent, null);
    class Note extends Node<State> {
      override post(shared: State): void {
        shared.log.push('noted');
      }
    }
    class Both extends ParallelFlow<State, 'mail' | 'note'> {
      override merge(shared: State, { mail, note }: Readonly<Record<'mail' | 'note', State>>): void {
        shared.log.push(...note.log, mail.text ?? '');
      }
    }
    const start = new Both({ branches: { mail: inner, note: new Note() }, name: 'both' });
    return new Flow<State>({ start, name: 'main' }).connect(start, null);
  };
  const { checkpoint } = await paused(make().run({ log: [] }));
  assert.equal(checkpoint.path, 'main/both/mail/Agent');
  assert.deepEqual(recipients(), []);
  const shared: State = { log: [] };
  await make().run(shared, { resume: throughJson(checkpoint), input: 'yes' });
  assert.deepEqual(shared.log, ['noted', 'Done.']);
  assert.deepEqual(recipients(), ['ann']);
  assert.equal(requests.length, 2);
});

test('items of a batch that have ended do not run again when another one waited', async (t) => {
  for (const Batch of [BatchNode, ParallelBatchNode]) {
    const { llm, requests } = await client(t, (response, request) => {
      const { messages } = request.body;
      const answer =
        messages.length > 1
          ? reply(`Wrote to ${messages[0]?.content}.`)
          : toolCalls(['send', `{"to":"${messages[0]?.content}"}`]);
      answer(response, request);
    });
    class Mails extends Batch<{ texts?: string[] }, string, string> {
      override prep(): string[] {
        return ['ann', 'bob', 'cem'];
      }
      override async exec(name: string): Promise<string> {
        const gate: RunToolsOptions['approve'] = () => (name === 'bob' ? pause({ question: 'Send it?' }) : true);
        return (await llm.runTools(ask(name), [send], { approve: gate })).text;
      }
      override post(shared: { texts?: string[] }, _names: readonly string[], texts: string[]): void {
        shared.texts = texts;
      }
    }
    const { checkpoint } = await paused(new Mails().run({}));
    const shared: { texts?: string[] } = {};
    await new Mails().run(shared, { resume: throughJson(checkpoint), input: 'yes' });
    assert.deepEqual(shared.texts, ['Wrote to ann.', 'Wrote to bob.', 'Wrote to cem.']);
    assert.deepEqual(recipients().toSorted(), ['ann', 'bob', 'cem']);
    assert.equal(requests.length, 6);
  }
});

test('a pause that exec catches still ends the run, and outside of a node it refuses the call', async (t) => {
  const { llm } = await client(t, toolCalls(['send', '{"to":"ann"}']), reply('Done.'));
  class Careless extends Agent {
    override async exec(prompt: string): Promise<ToolRun> {
      return super.exec(prompt).catch(() => ({ text: 'hidden', messages: [], steps: [], usage: {} }));
    }
  }
  await paused(new Careless(llm, { approve }).run({}));
  const { llm: other } = await client(t, toolCalls(['send', '{"to":"ann"}']), reply('Done.'));
  const { steps } = await other.runTools(ask('x'), [send], { approve });
  assert.match(steps[0]?.error ?? '', /needs a person, who can only be asked in the exec of a node/);
  assert.deepEqual(recipients(), []);
});

test('a recording has the calls of a run that failed: neither a replay nor a resume runs them again', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'farwharf-journal-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const path = join(folder, 'run.jsonl');
  const { llm, requests } = await client(t, both, down, reply('Done.'));
  {
    const record = await Recording.open(path); // not saved, as in a process that was killed
    await assert.rejects(new Agent(llm).run({}, { record }), /broken/);
  }
  const lines = readFileSync(path, 'utf8');
  appendFileSync(path, '{"path":"Agent","visit":1,"st'); // the line that it was writing
  const recording = await Recording.open(path);
  const shared: { text?: string } = {};
  await new Agent(llm).run(shared, { record: recording, replay: recording });
  assert.equal(shared.text, 'Done.');
  assert.deepEqual(recipients(), ['ann', 'bob']);
  assert.equal(requests.length, 3);

  // The same, but the process was killed while the second call ran.
  const isEndOfBob = (line: string): boolean => line.includes('bob') && line.includes('"done"');
  const interrupted = lines.split('\n').filter((line) => !isEndOfBob(line) || line.includes('"reply"'));
  rmSync(path);
  appendFileSync(path, interrupted.join('\n'));
  const { llm: again } = await client(t, reply('Done.'));
  const reported: { errors?: unknown[] } = {};
  const crashed = await Recording.open(path);
  await new Agent(again).run(reported, { record: crashed, replay: crashed });
  assert.deepEqual(recipients(), []);
  assert.equal(reported.errors?.[0], undefined);
  assert.match(
    String(reported.errors?.[1]),
    /"send" was interrupted while it ran, so whether it took effect is unknown/,
  );
});

test('an idempotent call that was interrupted runs again with the same id', async (t) => {
  const ids: string[] = [];
  const { llm } = await client(t, toolCalls(['put', '{}']), reply('Done.'));
  const put = tool({
    name: 'put',
    description: 'Puts.',
    input: z.object({}),
    idempotent: true,
    async run(_input, { callId, signal }) {
      ids.push(callId);
      if (ids.length === 1)
        await new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(new Error('late'))));
    },
  });
  class Slow extends Node<object, undefined, string> {
    override async exec(): Promise<string> {
      return (await llm.runTools(ask('x'), [put])).text;
    }
  }
  await new Slow({ maxRetries: 2, timeout: 0.2 }).run({});
  assert.equal(ids.length, 2);
  assert.equal(ids[0], ids[1]);
});
