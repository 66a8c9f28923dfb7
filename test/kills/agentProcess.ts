// A process that runs a flow of two agents to its end, to be killed: node agentProcess.ts FOLDER SEED
// Started again, it continues from its checkpoint and its recording. It prints a line as a tool begins and as it ends, and `done` at the end.
import { appendFileSync, existsSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import * as z from 'zod';
import {
  checkpointFile,
  Flow,
  LLMClient,
  Node,
  readCheckpoint,
  Recording,
  tool,
  type ToolRun,
} from '../../src/agents/index.ts';
import { randomFrom } from '../random.ts';
import { AGENTS, type AgentReport, type Effect, ROUNDS, TOOLS } from './agentWork.ts';

interface Shared {
  unknown: string[];
}

// Long beside what a busy machine delays a kill by, so that many kills come within a call.
const CALL_MS = 30;

const [folder = '', seed = '1'] = process.argv.slice(2);
const random = randomFrom(Number(seed));
const print = (line: string): unknown => writeSync(1, `${line}\n`);

const tools = TOOLS.map((name) =>
  tool({
    name,
    description: 'Has an effect.',
    input: z.object({ key: z.string() }),
    idempotent: name === 'put',
    async run({ key }, { callId }) {
      print(`begun ${key}`);
      await sleep(random() * CALL_MS);
      appendFileSync(
        join(folder, 'effects.jsonl'),
        `${JSON.stringify({ tool: name, key, callId } satisfies Effect)}\n`,
      );
      await sleep(random() * CALL_MS);
      print(`ended ${key}`);
      return key;
    },
  }),
);

/** A model that calls all tools in each round, and is sometimes busy. */
const model = new LLMClient({
  baseUrl: 'http://model.invalid/v1',
  model: 'm',
  fetch: async (_url, init) => {
    await sleep(random() * 3);
    if (random() < 0.2) return Response.json({}, { status: 503, headers: { 'retry-after': '0' } });
    const body = z.object({ messages: z.array(z.looseObject({ role: z.string(), content: z.unknown() })) });
    const { messages } = body.parse(JSON.parse(z.string().parse(init?.body)));
    const agent = String(messages[0]?.content);
    const round = messages.filter(({ role }) => role === 'assistant').length;
    const calls = TOOLS.map((name) => ({
      id: `call_${name}`,
      type: 'function',
      function: { name, arguments: JSON.stringify({ key: `${agent}-${round}-${name}` }) },
    }));
    const message = {
      role: 'assistant',
      content: round < ROUNDS ? null : 'Done.',
      ...(round < ROUNDS && { tool_calls: calls }),
    };
    return Response.json({ choices: [{ index: 0, finish_reason: 'stop', message }] });
  },
});

class Agent extends Node<Shared, string, ToolRun> {
  override prep(): string {
    return this.name;
  }

  override async exec(prompt: string): Promise<ToolRun> {
    const run = await model.runTools([{ role: 'user', content: prompt }], tools, { retries: 20 });
    if (random() < 0.3) throw new Error('the attempt fails after its work');
    return run;
  }

  override post(shared: Shared, _prompt: string, { steps }: ToolRun): void {
    for (const { input, error } of steps)
      if (error !== undefined) shared.unknown.push(`${JSON.stringify(input)} ${error}`);
  }
}

const [first, second] = AGENTS.map((name) => new Agent({ name, maxRetries: 20 }));
if (first === undefined || second === undefined) throw new Error('two agents are needed');
const flow = new Flow<Shared>({ start: first, name: 'agents' }).connect(first, second).connect(second, null);
const [checkpoint, recorded] = [join(folder, 'checkpoint.json'), join(folder, 'recording.jsonl')];
const recording = await Recording.open(recorded);
const shared: Shared = { unknown: [] };
const resume = existsSync(checkpoint) ? await readCheckpoint(checkpoint) : undefined;
print('ready');
await flow.run(shared, { resume, record: recording, replay: recording, onCheckpoint: checkpointFile(checkpoint) });
writeFileSync(join(folder, 'report.json'), JSON.stringify({ unknown: shared.unknown } satisfies AgentReport));
print('done');
