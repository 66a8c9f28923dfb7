import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { inspect } from 'node:util';
import * as z from 'zod';
import { AppError, LLMClient, Node, type TraceEvent } from '../../../../src/agents/index.ts';
import { type Answer, chatServer, delta, json, rateLimited, reply, streamed } from './llmServer.ts';

const KEY = 'sk-test-0123456789abcdef';
const city = z.object({ name: z.string(), people: z.number() });

async function client(t: TestContext, ...answers: readonly Answer[]) {
  const server = await chatServer(t, ...answers);
  return { ...server, llm: new LLMClient({ baseUrl: server.baseUrl, model: 'test-model', apiKey: KEY }) };
}

async function failure(promise: Promise<unknown>): Promise<AppError> {
  try {
    await promise;
  } catch (error) {
    assert.ok(error instanceof AppError, inspect(error));
    assert.ok(!inspect(error, { depth: 10, showHidden: true }).includes(KEY), 'the error holds the key');
    return error;
  }
  throw new Error('nothing was thrown');
}

function withEnv(t: TestContext, values: Record<string, string | undefined>): void {
  const before = Object.keys(values).map((name) => [name, process.env[name]] as const);
  const set = (entries: Iterable<readonly [string, string | undefined]>): void => {
    for (const [name, value] of entries) {
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
    }
  };
  set(Object.entries(values));
  t.after(() => set(before));
}

test('ask sends one user message with the model and the key, and gives the text of the reply', async (t) => {
  const { llm, requests } = await client(t, reply('Hello.'));
  assert.equal(await llm.ask('Say hello'), 'Hello.');
  const [request] = requests;
  assert.equal(request?.path, '/v1/chat/completions');
  assert.equal(request.headers.authorization, `Bearer ${KEY}`);
  assert.equal(request.body.model, 'test-model');
  assert.deepEqual(request.body.messages, [{ role: 'user', content: 'Say hello' }]);
});

test('chatComplete sends the messages as they are', async (t) => {
  const { llm, requests } = await client(t, reply('Fine.'));
  interface Message {
    role: string;
    content: string;
  }
  const messages: Message[] = [
    { role: 'system', content: 'Be short.' },
    { role: 'user', content: 'How are you?' },
  ];
  assert.equal(await llm.chatComplete(messages), 'Fine.');
  assert.deepEqual(requests[0]?.body.messages, messages);
});

test('an explicit provider wins, then the host of baseUrl, then the name of the model, then openai', () => {
  const provider = (options: ConstructorParameters<typeof LLMClient>[0]): string => new LLMClient(options).provider;
  assert.equal(provider({ provider: 'groq', baseUrl: 'https://api.mistral.ai/v1', model: 'gpt-4o' }), 'groq');
  assert.equal(provider({ baseUrl: 'https://api.mistral.ai/v1', model: 'gpt-4o' }), 'mistral');
  assert.equal(provider({ baseUrl: 'http://localhost:11434/v1' }), 'ollama');
  assert.equal(provider({ baseUrl: 'http://[::1]:1234/v1/' }), 'lmstudio');
  const models = {
    'gpt-4o': 'openai',
    o1: 'openai',
    'o3-mini': 'openai',
    'o4-mini': 'openai',
    'chatgpt-4o-latest': 'openai',
    'claude-haiku-4-5': 'anthropic',
    'gemini-2.5-flash': 'gemini',
    'deepseek-chat': 'deepseek',
    'mistral-small-latest': 'mistral',
    'codestral-latest': 'mistral',
    'ministral-8b-latest': 'mistral',
    'grok-4': 'xai',
    'something-else': 'openai',
  };
  for (const [model, expected] of Object.entries(models)) assert.equal(provider({ model }), expected, model);
  assert.equal(provider({}), 'openai');
});

test('every provider has an address, a model, and a key variable unless it is local', async (t) => {
  const names = 'openai anthropic gemini mistral deepseek groq xai together fireworks openrouter cerebras'.split(' ');
  withEnv(t, Object.fromEntries(names.map((name) => [`${name.toUpperCase()}_API_KEY`, undefined])));
  for (const provider of names) {
    const llm = new LLMClient({ provider });
    assert.match(llm.baseUrl, /^https:/);
    assert.notEqual(llm.model, '');
    const error = await failure(llm.ask('x'));
    assert.equal(error.code, 'not-signed-in');
    assert.match(error.message, new RegExp(`${provider.toUpperCase()}_API_KEY`));
  }
  for (const provider of ['ollama', 'lmstudio', 'vllm']) {
    const llm = new LLMClient({ provider, baseUrl: 'http://127.0.0.1:9/v1' });
    assert.equal((await failure(llm.ask('x'))).code, 'unreachable', 'no key is asked for');
  }
});

test('OPENAI_BASE_URL is the default address of openai, and of no other provider', async (t) => {
  const { baseUrl, requests } = await chatServer(t, reply('ok'));
  withEnv(t, { OPENAI_BASE_URL: `${baseUrl}/`, OPENAI_API_KEY: KEY });
  assert.equal(await new LLMClient().ask('x'), 'ok');
  assert.equal(requests[0]?.headers.authorization, `Bearer ${KEY}`);
  assert.equal(new LLMClient({ model: 'gpt-4o' }).baseUrl, baseUrl);
  assert.equal(
    new LLMClient({ provider: 'openai', baseUrl: 'https://example.com/v1' }).baseUrl,
    'https://example.com/v1',
  );
  assert.equal(new LLMClient({ provider: 'mistral' }).baseUrl, 'https://api.mistral.ai/v1');
  process.env['OPENAI_BASE_URL'] = '';
  assert.equal(new LLMClient().baseUrl, 'https://api.openai.com/v1');
});

test('an unknown provider and a baseUrl that is no address are refused', () => {
  assert.throws(() => new LLMClient({ provider: 'nobody' }), /provider "nobody" is unknown.*openai.*vllm/);
  for (const provider of ['constructor', '__proto__']) {
    assert.throws(() => new LLMClient({ provider }), /provider "\w+" is unknown/);
  }
  assert.throws(() => new LLMClient({ baseUrl: 'localhost:80' }), /"localhost:80" is not an http/);
  assert.throws(() => new LLMClient({ baseUrl: '' }), /is not an http/);
});

test('an unknown baseUrl is a service with no key needed, and never gets the key of a provider', async (t) => {
  withEnv(t, { OPENAI_API_KEY: KEY });
  const server = await chatServer(t, reply('Hi.'));
  const llm = new LLMClient({ baseUrl: server.baseUrl, model: 'gpt-4o' });
  assert.equal(await llm.ask('x'), 'Hi.');
  assert.equal(server.requests[0]?.headers.authorization, undefined);
});

test('apiKey wins over apiKeyEnv, which wins over the variable of the provider', async (t) => {
  const server = await chatServer(t, reply('Hi.'));
  withEnv(t, { OPENAI_API_KEY: 'key-of-provider', MY_KEY: 'key-of-mine', NO_KEY: undefined });
  const sent = async (options: object): Promise<string | undefined> => {
    await new LLMClient({ provider: 'openai', baseUrl: server.baseUrl, ...options }).ask('x');
    return server.requests.at(-1)?.headers.authorization;
  };
  assert.equal(await sent({}), 'Bearer key-of-provider');
  assert.equal(await sent({ apiKeyEnv: 'MY_KEY' }), 'Bearer key-of-mine');
  assert.equal(await sent({ apiKeyEnv: 'MY_KEY', apiKey: 'key-itself' }), 'Bearer key-itself');
  assert.match((await failure(sent({ apiKeyEnv: 'NO_KEY' }))).message, /NO_KEY/);
});

test('429 is sent again up to `retries` times, after Retry-After', async (t) => {
  const { llm, requests } = await client(t, rateLimited('0'), rateLimited('0'), reply('At last.'));
  assert.equal(await llm.ask('x'), 'At last.');
  assert.equal(requests.length, 3);
});

test('Retry-After may be a date', async (t) => {
  const { llm } = await client(t, rateLimited(new Date(Date.now() - 1000).toUTCString()), reply('Now.'));
  assert.equal(await llm.ask('x'), 'Now.');
});

test('without Retry-After the client backs off by itself', async (t) => {
  const { llm } = await client(t, rateLimited(), reply('Later.'));
  const startedAt = performance.now();
  assert.equal(await llm.ask('x'), 'Later.');
  assert.ok(performance.now() - startedAt > 300);
});

test('when the retries are used up the error names provider, model and status', async (t) => {
  const { llm, requests } = await client(t, rateLimited('0'));
  const error = await failure(llm.ask('x', { retries: 2 }));
  assert.equal(requests.length, 3);
  assert.equal(error.code, 'limit');
  assert.match(error.message, /custom \(test-model\).*429.*too many requests/);
  requests.length = 0;
  await failure(llm.ask('x', { retries: 0 }));
  assert.equal(requests.length, 1);
});

test('a quota that is used up is not tried again', async (t) => {
  const { llm, requests } = await client(t, json(429, { error: { message: 'pay', code: 'insufficient_quota' } }));
  await failure(llm.ask('x'));
  assert.equal(requests.length, 1);
});

test('an abort ends the wait for a rate limit with the reason of the signal', async (t) => {
  const { llm } = await client(t, rateLimited('50'));
  const reason = new Error('stop');
  const controller = new AbortController();
  setTimeout(() => controller.abort(reason), 30);
  await assert.rejects(llm.ask('x', { signal: controller.signal }), (error) => error === reason);
});

test('an abort ends a request that hangs with the reason of the signal', async (t) => {
  const { llm } = await client(t, () => {});
  const reason = new Error('stop');
  const controller = new AbortController();
  setTimeout(() => controller.abort(reason), 30);
  await assert.rejects(llm.ask('x', { signal: controller.signal }), (error) => error === reason);
});

test('a request over its timeout is an error that says so', async (t) => {
  const { llm } = await client(t, () => {});
  const error = await failure(llm.ask('x', { timeout: 0.05 }));
  assert.equal(error.code, 'unreachable');
  assert.match(error.message, /http:.* did not respond within 0\.05 s\. Try again, or set a longer timeout\.$/);
});

test('other failures are not sent again and say what to do', async (t) => {
  const cases: [Answer, string, RegExp][] = [
    [json(401, { error: { message: `bad key ${KEY}` } }), 'not-signed-in', /401.*bad key \[redacted\].*Check the key/],
    [json(404, { error: { message: 'no such model' } }), 'missing', /404.*"test-model" exists/],
    [json(400, { error: { message: 'too long' } }), 'bad-input', /400.*too long/],
    [json(403, {}), 'not-signed-in', /403/],
    [json(422, {}), 'bad-input', /422/],
    [(response) => response.writeHead(302, { location: '/elsewhere' }).end(), 'unreachable', /no usable response/],
  ];
  for (const [answer, code, message] of cases) {
    const { llm, requests } = await client(t, answer);
    const error = await failure(llm.ask('x'));
    assert.equal(error.code, code, error.message);
    assert.match(error.message, message);
    assert.equal(requests.length, 1);
  }
});

test('what may pass is sent again: 408, 409, 5xx, and connections that were lost before the first token', async (t) => {
  const soon = { 'retry-after': '0' };
  const broken = streamed([delta('')], { isEnded: false });
  const lost: Answer = (response, request) => {
    broken(response, request);
    setImmediate(() => response.destroy());
  };
  for (const answer of [...[408, 409, 500, 503, 529].map((status) => json(status, {}, soon)), lost]) {
    const { llm, requests } = await client(
      t,
      answer,
      answer === lost ? streamed([delta('Yes.', 'stop'), '[DONE]']) : reply('Yes.'),
    );
    const text = answer === lost ? (await Array.fromAsync(llm.askStream('x'))).join('') : await llm.ask('x');
    assert.equal(text, 'Yes.');
    assert.equal(requests.length, 2);
  }
  const { llm: cut, requests: once } = await client(t, (response, request) => {
    streamed([delta('Half')], { isEnded: false })(response, request);
    setImmediate(() => response.destroy());
  });
  await assert.rejects(Array.fromAsync(cut.askStream('x')), { code: 'unreachable' });
  assert.equal(once.length, 1);
  for (const [answer, message] of [
    [json(500, {}, soon), /500.*later/],
    [(response) => response.writeHead(502, soon).end('<html>bad gateway</html>'), /502/],
    [(response) => response.destroy(), /Check the address/],
  ] as readonly [Answer, RegExp][]) {
    const { llm, requests } = await client(t, answer);
    const error = await failure(llm.ask('x', { retries: 1 }));
    assert.equal(error.code, 'unreachable', error.message);
    assert.match(error.message, message);
    assert.equal(requests.length, 2);
  }
});

test('a wait that is too long is an error at once, which names the time', async (t) => {
  const { llm, requests } = await client(t, json(503, {}, { 'retry-after': '3600' }));
  const error = await failure(llm.ask('x'));
  assert.match(error.message, /asks you to wait 1 h, longer than the 60 s that a request waits by itself/);
  assert.equal(requests.length, 1);
});

test('a reply that is none is an error that names provider and model', async (t) => {
  const cases: [Answer, RegExp][] = [
    [reply(''), /custom \(test-model\): the reply is empty/],
    [reply(null), /reply is empty/],
    [reply('half a sen', { finish_reason: 'length' }), /cut off at the model's output limit/],
    [json(200, { error: { message: `overloaded ${KEY}` } }), /200 without a completion.*overloaded \[redacted\]/],
    [json(200, { choices: [] }), /no choices/],
    [json(200, { choices: [{}] }), /200 without a completion/],
    [json(200, 'just text'), /200 without a completion/],
    [
      (response) => response.writeHead(200, { 'content-type': 'application/json' }).end('{"choi'),
      /custom \(test-model\)/,
    ],
  ];
  for (const [answer, message] of cases) {
    const { llm } = await client(t, answer);
    assert.match((await failure(llm.ask('x'))).message, message);
  }
});

test('with a schema the reply is validated and given as a value', async (t) => {
  const { llm, requests } = await client(t, reply('{"name":"Oslo","people":700000}'));
  const value = await llm.ask('Largest city of Norway?', { schema: city });
  assert.deepEqual(value, { name: 'Oslo', people: 700_000 });
  assert.equal(value.name.length, 4); // typed by the schema
  assert.match(requests[0]?.body.messages[0]?.content ?? '', /JSON schema.*"people"/s);
});

test('the schema is in the request where the provider takes it', async (t) => {
  const server = await chatServer(t, reply('{"name":"Oslo","people":1}'));
  const llm = new LLMClient({ provider: 'openai', baseUrl: server.baseUrl, apiKey: KEY });
  await llm.ask('x', { schema: city });
  assert.equal(server.requests[0]?.body.response_format?.json_schema.strict, true);
  assert.equal(server.requests[0].body.messages.length, 1);
  await llm.ask('x', { schema: z.looseObject(city.shape) });
  assert.equal(server.requests[1]?.body.response_format?.json_schema.strict, false);
});

test('JSON in a code fence, with or without sentences around it, is accepted', async (t) => {
  const text = '{"name":"Oslo","people":1}';
  for (const content of [
    `\`\`\`json\n${text}\n\`\`\``,
    `Sure:\n\`\`\`\n${text}\n\`\`\`\nDone.`,
    `Here it is: ${text}.`,
  ]) {
    const { llm, requests } = await client(t, reply(content));
    assert.deepEqual(await llm.ask('x', { schema: city }), { name: 'Oslo', people: 1 }, content);
    assert.equal(requests.length, 1);
  }
});

test('a reply that does not match is sent back once with the issues', async (t) => {
  const { llm, requests } = await client(t, reply('{"name":"Oslo"}'), reply('{"name":"Oslo","people":1}'));
  assert.deepEqual(await llm.ask('x', { schema: city }), { name: 'Oslo', people: 1 });
  const [assistant, user] = requests[1]?.body.messages.slice(-2) ?? [];
  assert.deepEqual(assistant, { role: 'assistant', content: '{"name":"Oslo"}' });
  assert.match(user?.content ?? '', /people/);
});

test('a reply that does not match twice is an error with the issues', async (t) => {
  const { llm, requests } = await client(t, reply('no JSON at all'));
  const error = await failure(llm.ask('x', { schema: city }));
  assert.equal(requests.length, 2);
  assert.match(error.message, /custom \(test-model\).*not match the schema.*not JSON/s);
});

test('a schema that is none is refused before anything is sent', async (t) => {
  const { llm, requests } = await client(t, reply('x'));
  for (const schema of [{ type: 'object' }, 'text', null]) {
    await assert.rejects(llm.ask('x', { schema: schema as unknown as z.ZodType }), {
      name: 'TypeError',
      message: /option schema of ask must be a schema/,
    });
  }
  assert.equal(requests.length, 0);
});

test('askStream yields the reply in pieces', async (t) => {
  const { llm, requests } = await client(t, streamed([delta('Hel'), delta('lo'), delta('', 'stop'), '[DONE]']));
  assert.deepEqual(await Array.fromAsync(llm.askStream('x')), ['Hel', 'lo']);
  assert.equal(requests[0]?.body.stream, true);
});

test('askStream waits for rate limits too', async (t) => {
  const { llm } = await client(t, rateLimited('0'), streamed([delta('Hi', 'stop'), '[DONE]']));
  assert.deepEqual(await Array.fromAsync(llm.askStream('x')), ['Hi']);
});

test('leaving the loop of askStream ends the request', async (t) => {
  let closed: (() => void) | undefined;
  const isClosed = new Promise<void>((resolve) => (closed = resolve));
  const { llm } = await client(t, (response, request) => {
    response.on('close', () => closed?.());
    streamed([delta('one'), delta('two')], { isEnded: false })(response, request);
  });
  for await (const piece of llm.askStream('x')) {
    assert.equal(piece, 'one');
    break;
  }
  await isClosed;
});

test('an abort in a stream throws the reason of the signal', async (t) => {
  const { llm } = await client(t, streamed([delta('one')], { isEnded: false }));
  const reason = new Error('stop');
  const controller = new AbortController();
  const pieces: string[] = [];
  await assert.rejects(
    async () => {
      for await (const piece of llm.askStream('x', { signal: controller.signal })) {
        pieces.push(piece);
        controller.abort(reason);
      }
    },
    (error) => error === reason,
  );
  assert.deepEqual(pieces, ['one']);
});

test('a stream that is malformed, cut off, empty or an error is an error', async (t) => {
  const cases: [Answer, RegExp][] = [
    [streamed([delta('a'), '{"choices": [']), /custom \(test-model\)/],
    [streamed([delta('a'), JSON.stringify({ error: { message: `broke ${KEY}` } })]), /broke/],
    [streamed([delta('a', 'length'), '[DONE]']), /cut off/],
    [streamed(['[DONE]']), /empty/],
    [
      (response, request) => {
        streamed([delta('a')], { isEnded: false })(response, request);
        setTimeout(() => response.destroy(), 20);
      },
      /custom \(test-model\)/,
    ],
  ];
  for (const [answer, message] of cases) {
    const { llm } = await client(t, answer);
    assert.match((await failure(Array.fromAsync(llm.askStream('x')))).message, message);
  }
});

test('tool calls are passed through', async (t) => {
  const call = { id: 'call_1', type: 'function', function: { name: 'weather', arguments: '{"city":"Oslo"}' } };
  const answer = reply(null, { finish_reason: 'tool_calls', message: { tool_calls: [call] } });
  const { llm, requests } = await client(t, answer);
  const tools = [{ type: 'function', function: { name: 'weather', parameters: { type: 'object' } } }];
  const { toolCalls, finishReason } = await llm.chatWithTools([{ role: 'user', content: 'x' }], { tools });
  assert.deepEqual(toolCalls, [{ id: 'call_1', name: 'weather', arguments: '{"city":"Oslo"}' }]);
  assert.equal(finishReason, 'tool_calls');
  assert.deepEqual(requests[0]?.body.tools, tools);
});

test('a call inside a traced run is reported with usage, cost and retries, and without key or prompt', async (t) => {
  const server = await chatServer(t, rateLimited('0'), reply('Fine.'));
  const price = { input: 2.5, output: 10 };
  const llm = new LLMClient({ provider: 'openai', model: 'gpt-4o', baseUrl: server.baseUrl, apiKey: KEY, price });
  class Ask extends Node<object> {
    override async exec(): Promise<string> {
      return llm.ask('a secret prompt');
    }
  }
  const events: TraceEvent[] = [];
  await new Ask().run({}, { onEvent: (event) => events.push(event) });
  const call = events.find((event) => event.type === 'model');
  assert.ok(call?.type === 'model');
  assert.equal(call.path, 'Ask');
  assert.equal(call.inputTokens, 100);
  assert.equal(call.outputTokens, 20);
  assert.equal(call.retries, 1);
  assert.equal(call.estimatedCost, (100 * 2.5 + 20 * 10) / 1_000_000);
  const text = JSON.stringify(events);
  assert.ok(!text.includes(KEY) && !text.includes('a secret prompt'));
});

test('a client never shows its key', () => {
  const llm = new LLMClient({ apiKey: KEY });
  assert.ok(!`${inspect(llm, { showHidden: true, depth: 5 })}${JSON.stringify(llm)}`.includes(KEY));
});

test('a completion is read whatever the service calls its type, and in parts as some services write it', async (t) => {
  const completion = {
    choices: [{ index: 0, finish_reason: 'stop', message: { role: 'assistant', content: 'Low.' } }],
  };
  const parts = [
    { type: 'thinking', thinking: [{ type: 'text', text: 'tide tables' }] },
    { type: 'text', text: 'Hi' },
    { type: 'text', text: 'gh.' },
  ];
  const { baseUrl } = await chatServer(
    t,
    (response) => response.end(JSON.stringify(completion)),
    (response) => response.writeHead(200, { 'content-type': 'text/html' }).end(JSON.stringify(completion)),
    json(200, { choices: [{ message: { content: parts } }] }),
    streamed([JSON.stringify({ choices: [{ delta: { content: parts } }] })]),
    json(200, { choices: [{ message: { content: 5 } }] }),
  );
  const client = new LLMClient({ baseUrl, model: 'm' });
  assert.equal(await client.ask('The tide?'), 'Low.');
  assert.equal(await client.ask('The tide?'), 'Low.');
  assert.equal(await client.ask('The tide?'), 'High.');
  assert.deepEqual(await Array.fromAsync(client.askStream('The tide?')), ['High.']);
  await assert.rejects(client.ask('The tide?'), { code: 'corrupt', message: /the reply is empty/ });
});

test('arguments of a call that it cannot use are refused before anything is sent', async (t) => {
  const { baseUrl, requests } = await chatServer(t, reply('x'));
  const client = new LLMClient({ baseUrl, model: 'm' });
  const messages = [{ role: 'user', content: 'x' }];
  for (const retries of [-1, 1.5, Number.NaN]) {
    await assert.rejects(client.ask('x', { retries }), {
      name: 'RangeError',
      message: `retries of ask is ${retries}; it must be a whole number of at least 0.`,
    });
  }
  for (const timeout of [0, -1, Number.NaN]) {
    await assert.rejects(client.chatComplete(messages, { timeout }), {
      name: 'RangeError',
      message: /timeout of chatComplete/,
    });
  }
  const prompt = { name: 'TypeError', message: /^The prompt of \w+ must be a string/ };
  const list = { name: 'TypeError', message: /^The messages of \w+ must be an array of objects/ };
  const tools = { name: 'TypeError', message: /^The tools of runTools must be an array of what tool\(\) returns/ };
  for (const wrong of [undefined, null, 5, {}] as never[]) {
    await assert.rejects(client.ask(wrong), prompt);
    await assert.rejects(Array.fromAsync(client.askStream(wrong)), prompt);
    await assert.rejects(client.chatComplete(wrong), list);
    await assert.rejects(client.chatWithTools(wrong), list);
    await assert.rejects(Array.fromAsync(client.chatStream(wrong)), list);
    await assert.rejects(client.runTools(wrong, []), list);
    await assert.rejects(client.runTools(messages, wrong), tools);
  }
  await assert.rejects(client.runTools(messages, [{}] as never), tools);
  assert.equal(requests.length, 0);
  assert.equal(await client.ask('x', { retries: Number.POSITIVE_INFINITY, timeout: Number.POSITIVE_INFINITY }), 'x');
});

test('a reply without tools may say so with null, and a stream may contain chunks without choices', async (t) => {
  const { baseUrl } = await chatServer(
    t,
    reply('Low.', { message: { tool_calls: null, refusal: null } }), // as Mistral writes it
    streamed([
      '{"type":"ping"}',
      delta('Hi'),
      '{"choices":null,"error":null}',
      delta('gh.'),
      '{"usage":{"prompt_tokens":1,"completion_tokens":2}}',
      '5',
    ]),
    streamed([delta('Hi'), '{"error":{"message":"too hot"}}']),
  );
  const client = new LLMClient({ baseUrl, model: 'm' });
  assert.equal(await client.ask('The tide?'), 'Low.');
  assert.deepEqual(await Array.fromAsync(client.askStream('The tide?')), ['Hi', 'gh.']);
  await assert.rejects(Array.fromAsync(client.askStream('The tide?')), { name: 'AppError', message: /too hot/ });
});
