import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { resolveEndpoint } from '../../src/agents/llm/providers.ts';
import { AppError } from '../../src/core/errors.ts';
import { type BridgedModels, type BridgeRequest, ModelBridge } from '../../src/flows/run/start/modelBridge.ts';
import { readModelCalls } from '../../src/flows/run/history/modelCalls.ts';
import { runPrompt } from '../../src/flows/run/start/promptRun.ts';
import { runFolder } from '../../src/flows/run/history/runFolder.ts';
import { timelinesOf } from '../../src/flows/run/protocol/runTimeline.ts';
import { type Answer, chatServer } from '../unit/agents/llm/llmServer.ts';
import { FlowFolder } from './support/flowChild.ts';

const ASK = `
import { Flow, LLMClient, Node } from 'farwharf/agents';
class Ask extends Node {
  exec() { return new LLMClient({ provider: 'vscode', model: 'small' }).ask('where?'); }
  async post(shared, _, answer) {
    shared.answer = answer;
    shared.streamed = '';
    for await (const piece of new LLMClient({ provider: 'vscode' }).askStream('again')) shared.streamed += piece;
  }
}
export const flow = new Flow({ start: new Ask(), name: 'F' });
`;

function echo(asked: BridgeRequest[] = []): BridgedModels {
  return {
    async *complete(request) {
      asked.push(request);
      yield `${request.model}: `;
      yield request.messages.at(-1)?.content ?? '';
    },
    countTokens: (text) => Promise.resolve(text.length),
    list: () => Promise.resolve(['small', 'large']),
  };
}

test("a flow reaches the editor's models by the provider vscode, with counts, and its calls are kept", async () => {
  await using folder = await FlowFolder.create({ 'ask.mjs': ASK });
  await using bridge = await ModelBridge.open(echo());
  const kept = await folder.write('run/trace.jsonl', '');
  const { outcome, runEvents } = await folder.run('ask.mjs', {
    env: { ...process.env, ...bridge.env },
    folder: join(kept, '..'),
  });
  assert.deepEqual(outcome.type === 'done' && outcome.shared, { answer: 'small: where?', streamed: 'auto: again' });
  assert.deepEqual(timelinesOf(runEvents)[0]?.usage, { calls: 2, inputTokens: 11, outputTokens: 24, cost: 0 });
  const calls = await readModelCalls(runFolder(join(kept, '..')));
  assert.deepEqual(
    calls.map(({ provider, model, path, reply, messages }) => [provider, model, path, reply, messages[0]?.content]),
    [
      ['vscode', 'small', 'F/Ask', 'small: where?', 'where?'],
      ['vscode', 'auto', 'F/Ask', 'auto: again', 'again'],
    ],
  );
});

test('without the editor the provider vscode says what to do', async () => {
  await using folder = await FlowFolder.create({ 'ask.mjs': ASK });
  const { outcome } = await folder.run('ask.mjs');
  assert.match(outcome.type === 'failed' ? outcome.error.message : '', /only to flows that VS Code runs/);
});

test('the bridge answers nobody without its token, from another host name, or on another path', async () => {
  await using bridge = await ModelBridge.open(echo());
  const { FARWHARF_MODEL_BRIDGE_URL: url = '', FARWHARF_MODEL_BRIDGE_TOKEN: token = '' } = bridge.env;
  const Authorization = `Bearer ${token}`;
  const status = async (path: string, init: RequestInit = {}): Promise<number> =>
    (await fetch(`${url}${path}`, init)).status;
  assert.equal(await status('/models'), 401);
  assert.equal(await status('/models', { headers: { Authorization: 'Bearer wrong' } }), 401);
  const byName = url.replace('127.0.0.1', 'localhost');
  assert.equal(
    (await fetch(`${byName}/models`, { headers: { Authorization } }).catch(() => ({ status: 401 }))).status,
    401,
  );
  assert.equal(await status('/models', { headers: { Authorization } }), 200);
  assert.equal(await status('/files', { headers: { Authorization } }), 404);
  const ask = (body: unknown): Promise<number> =>
    status('/chat/completions', { method: 'POST', headers: { Authorization }, body: JSON.stringify(body) });
  assert.equal(await ask('no request'), 400);
  assert.equal(await ask({ model: 'm', messages: [], tools: [{}] }), 400);
  assert.equal(await ask({ model: 'm', messages: [{ role: 'user', content: 'x'.repeat(17e6) }] }), 429);
});

test('a failure of a model is reported by its code, also in the middle of a stream, and a caller that disconnects stops it', async () => {
  const left = Promise.withResolvers<void>();
  await using bridge = await ModelBridge.open({
    ...echo(),
    async *complete({ messages }, signal) {
      const [message] = messages;
      if (message?.content === 'refused') throw new AppError('permission', 'The person said no.');
      yield 'a beginning';
      if (message?.content === 'breaks') throw new Error('gone');
      await new Promise((_, reject) => {
        signal.addEventListener('abort', () => {
          left.resolve();
          reject(signal.reason as Error);
        });
      });
    },
  });
  const { FARWHARF_MODEL_BRIDGE_URL: baseUrl = '', FARWHARF_MODEL_BRIDGE_TOKEN: apiKey = '' } = bridge.env;
  const post = (content: string, signal?: AbortSignal): Promise<Response> =>
    fetch(`${baseUrl}/chat/completions`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${apiKey}` },
      body: JSON.stringify({ model: 'm', stream: true, messages: [{ role: 'user', content }] }),
      ...(signal && { signal }),
    });
  const refused = await post('refused');
  assert.equal(refused.status, 403);
  assert.match(await refused.text(), /The person said no/);
  await assert.rejects(post('breaks').then((response) => response.text()));
  const leave = new AbortController();
  const response = await post('waits', leave.signal);
  await response.body?.getReader().read();
  leave.abort();
  await left.promise;
});

test('a prompt can be sent to several models, each with its counts', async () => {
  await using bridge = await ModelBridge.open(echo());
  const { FARWHARF_MODEL_BRIDGE_URL: baseUrl, FARWHARF_MODEL_BRIDGE_TOKEN: apiKey } = bridge.env;
  const messages = [{ role: 'user', content: 'where?' }];
  const { signal } = new AbortController();
  const replies = await Promise.all(
    ['small', 'large'].map((model) => runPrompt({ provider: 'vscode', model, baseUrl, apiKey }, messages, { signal })),
  );
  assert.deepEqual(
    replies.map(({ reply, call }) => [reply, call?.inputTokens, call?.outputTokens]),
    [
      ['small: where?', 6, 13],
      ['large: where?', 6, 13],
    ],
  );
});

test('clients that name no model use the selected one, whose key stays in the editor', async (t) => {
  const reply: Answer = (response) => {
    const choices = [{ index: 0, message: { role: 'assistant', content: 'here' }, finish_reason: 'stop' }];
    response.setHeader('Content-Type', 'application/json').end(JSON.stringify({ choices }));
  };
  const limited: Answer = (response) => response.writeHead(429, { 'Retry-After': '0' }).end('{}');
  const { baseUrl, requests } = await chatServer(t, limited, reply);
  await using folder = await FlowFolder.create({
    'ask.mjs': `import { Flow, LLMClient, Node } from 'farwharf/agents';
      class Ask extends Node {
        exec() { return Promise.all([{}, { provider: 'mistral' }, { model: 'mistral-large-latest' }].map((o) => new LLMClient(o).ask('where?'))); }
        post(shared, _, answers) { shared.answers = answers; shared.env = JSON.stringify(process.env); }
      }
      export const flow = new Flow({ start: new Ask() });`,
    'other.mjs': `import { Flow, LLMClient, Node } from 'farwharf/agents';
      class Ask extends Node { exec() { return new LLMClient({ provider: 'openai' }).ask('where?'); } }
      export const flow = new Flow({ start: new Ask({ maxRetries: 5, wait: 60 }) });`,
  });
  const service = { baseUrl, key: 'the-secret-key', fetch };
  await using bridge = await ModelBridge.open(echo(), { provider: 'mistral', model: 'mistral-small-latest', service });
  const env = { PATH: process.env['PATH'], ...bridge.env };
  const { outcome } = await folder.run('ask.mjs', { env });
  const shared = outcome.type === 'done' ? outcome.shared : undefined;
  assert.ok(
    typeof shared === 'object' && shared !== null && 'answers' in shared && 'env' in shared,
    JSON.stringify(outcome),
  );
  assert.deepEqual(shared['answers'], ['here', 'here', 'here']);
  assert.doesNotMatch(JSON.stringify(shared), /the-secret-key/);
  assert.ok(requests.every(({ headers }) => headers.authorization === 'Bearer the-secret-key'));
  assert.deepEqual(
    new Set(requests.map(({ body }) => body.model)),
    new Set(['mistral-small-latest', 'mistral-large-latest']),
  );
  // Another provider needs its own key. Without one, the run fails at once and says which variable it needs.
  const other = await folder.run('other.mjs', { env });
  assert.match(other.outcome.type === 'failed' ? other.outcome.error.message : '', /openai needs an API key/);
  assert.equal(other.outcome.type === 'failed' && other.outcome.error.code, 'not-signed-in');
  assert.deepEqual(
    other.events.filter(({ type }) => type === 'missingKey'),
    [{ type: 'missingKey', variable: 'OPENAI_API_KEY' }],
  );
  const { FARWHARF_SELECTED_URL: url = '', FARWHARF_MODEL_BRIDGE_TOKEN: token = '' } = bridge.env;
  const Authorization = `Bearer ${token}`;
  assert.equal((await fetch(`${url}/files`, { method: 'POST', headers: { Authorization } })).status, 404);
  assert.equal((await fetch(`${url}/chat/completions`, { method: 'POST', body: '{}' })).status, 401);
  assert.equal(
    (await fetch(`${url}/responses`, { method: 'POST', headers: { Authorization }, body: '{}' })).status,
    200,
  );
  assert.match(requests.at(-1)?.path ?? '', /\/responses$/);
});

test('a selected model at Azure gets its key in the header and its api-version in the address', async (t) => {
  const reply: Answer = (response) => {
    const choices = [{ index: 0, message: { role: 'assistant', content: 'here' }, finish_reason: 'stop' }];
    response.setHeader('Content-Type', 'application/json').end(JSON.stringify({ choices }));
  };
  const { baseUrl: address, requests } = await chatServer(t, reply);
  const resource = `${new URL(address).origin}?api-version=2024-10-21`;
  const { provider, model, baseUrl, query, keyHeader } = resolveEndpoint({
    provider: 'azure',
    model: 'small',
    baseUrl: resource,
  });
  const service = { baseUrl, query, keyHeader, key: 'the-secret-key', fetch };
  await using bridge = await ModelBridge.open(echo(), { provider, model, service });
  await using folder = await FlowFolder.create({
    'ask.mjs': `import { Flow, LLMClient, Node } from 'farwharf/agents';
      class Ask extends Node { exec() { return new LLMClient().ask('where?'); } post(shared, _, answer) { shared.answer = answer; } }
      export const flow = new Flow({ start: new Ask() });`,
  });
  const { outcome } = await folder.run('ask.mjs', { env: { PATH: process.env['PATH'], ...bridge.env } });
  assert.deepEqual(outcome.type === 'done' && outcome.shared, { answer: 'here' });
  const [request] = requests;
  assert.equal(request?.path, '/openai/deployments/small/chat/completions?api-version=2024-10-21');
  assert.deepEqual([request?.headers['api-key'], request?.headers.authorization], ['the-secret-key', undefined]);
});
