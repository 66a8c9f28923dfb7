import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import * as z from 'zod';
import { z as z3 } from 'zod/v3';
import { LLMClient, type Schema } from '../../../../src/agents/index.ts';
import { jsonSchemaIssues } from '../../../../src/agents/schema/jsonSchemaCheck.ts';
import { type Answer, chatServer, delta, json, type ReceivedRequest, reply, streamed } from './llmServer.ts';
import { PUBLISHED, refusals } from './schemaRules.ts';

/** A schema, a reply as a strict service writes it, and the value that the caller gets. */
interface Shape {
  readonly name: string;
  readonly schema: z.ZodType;
  readonly written: unknown;
  readonly value: unknown;
  /** Whether no strict service can guarantee it; some that take any JSON Schema can. */
  readonly isLoose?: true;
}

const shape = (name: string, schema: z.ZodType, written: unknown, value: unknown = written): Shape => ({
  name,
  schema,
  written,
  value,
});
const loose = (name: string, schema: z.ZodType, written: unknown): Shape => ({
  name,
  schema,
  written,
  value: written,
  isLoose: true,
});

const Tree = z.object({
  label: z.string(),
  get children() {
    return z.array(Tree);
  },
});
const Expression: z.ZodType = z.lazy(() =>
  z.discriminatedUnion('op', [
    z.object({ op: z.literal('number'), value: z.number(), unit: z.string().optional() }),
    z.object({ op: z.literal('sum'), terms: z.array(Expression) }),
  ]),
);
const Address = z.object({ street: z.string(), zip: z.string().optional() }).meta({ id: 'Address' });

const SHAPES: readonly Shape[] = [
  shape('object', z.object({ a: z.string(), b: z.number() }), { a: 'x', b: 1 }),
  shape('strict object', z.strictObject({ a: z.string() }), { a: 'x' }),
  shape('empty object', z.object({}), {}),
  shape('optional key', z.object({ a: z.string(), b: z.string().optional() }), { a: 'x', b: null }, { a: 'x' }),
  shape('nullable key', z.object({ a: z.string().nullable() }), { a: null }),
  shape('nullish key keeps its null', z.object({ a: z.string().nullish() }), { a: null }),
  shape('default', z.object({ a: z.number().default(3) }), { a: null }, { a: 3 }),
  shape('catch', z.object({ a: z.string().catch('none') }), { a: 'x' }),
  shape('optional object', z.object({ a: z.object({ b: z.number() }).optional() }), { a: null }, {}),
  shape('optional array', z.object({ a: z.array(z.string()).optional() }), { a: null }, {}),
  shape('optional enum', z.object({ a: z.enum(['x', 'y']).optional() }), { a: null }, {}),
  shape(
    'nested optional',
    z.object({ a: z.array(z.object({ b: z.string().optional() })) }),
    { a: [{ b: null }, { b: 'c' }] },
    { a: [{}, { b: 'c' }] },
  ),
  shape('partial', z.object({ a: z.string(), b: z.number() }).partial(), { a: null, b: 2 }, { b: 2 }),
  shape('array at the root', z.array(z.string()), ['a']),
  shape('enum at the root', z.enum(['red', 'blue']), 'blue'),
  shape('string at the root', z.string(), 'text'),
  shape('boolean at the root', z.boolean(), true),
  shape('nullable at the root', z.object({ a: z.string() }).nullable(), null),
  shape('union at the root', z.union([z.object({ a: z.string() }), z.object({ b: z.number() })]), { b: 2 }),
  shape(
    'discriminated union',
    z.object({
      event: z.discriminatedUnion('type', [
        z.object({ type: z.literal('a'), x: z.string().optional() }),
        z.object({ type: z.literal('b'), y: z.number() }),
      ]),
    }),
    { event: { type: 'a', x: null } },
    { event: { type: 'a' } },
  ),
  shape('literals', z.object({ a: z.literal([1, 2]), b: z.literal('x'), c: z.literal(null) }), {
    a: 2,
    b: 'x',
    c: null,
  }),
  shape('native enum', z.object({ a: z.enum({ One: 1, Two: 'two' }) }), { a: 'two' }),
  shape('lengths', z.object({ a: z.string().min(2).max(5), b: z.array(z.number()).min(1).max(3) }), {
    a: 'abc',
    b: [1],
  }),
  shape('numbers', z.object({ a: z.int(), b: z.number().min(0).max(1), c: z.number().positive().multipleOf(5) }), {
    a: 1,
    b: 0.5,
    c: 10,
  }),
  shape(
    'url',
    z.object({ a: z.url(), b: z.url().optional() }),
    { a: 'https://example.org', b: null },
    { a: 'https://example.org' },
  ),
  shape(
    'formats',
    z.object({ a: z.email(), b: z.uuid(), c: z.iso.datetime(), d: z.ipv4(), e: z.base64(), f: z.jwt().optional() }),
    {
      a: 'a@example.org',
      b: '123e4567-e89b-42d3-a456-426614174000',
      c: '2026-01-02T03:04:05Z',
      d: '10.0.0.1',
      e: 'YWJj',
      f: null,
    },
    {
      a: 'a@example.org',
      b: '123e4567-e89b-42d3-a456-426614174000',
      c: '2026-01-02T03:04:05Z',
      d: '10.0.0.1',
      e: 'YWJj',
    },
  ),
  shape(
    'patterns',
    z.object({
      a: z.string().regex(/^[a-z]+$/),
      b: z.string().regex(/^(?=.*\d).+$/),
      c: z.string().startsWith('x').endsWith('y'),
    }),
    { a: 'abc', b: 'a1', c: 'xy' },
  ),
  shape('template literal', z.object({ a: z.templateLiteral(['v', z.number()]) }), { a: 'v1' }),
  shape('tuple', z.object({ a: z.tuple([z.string(), z.number()]) }), { a: ['x', 1] }),
  shape('tuple with rest', z.object({ a: z.tuple([z.string()]).rest(z.number()) }), { a: ['x', 1, 2] }),
  shape('tuple of objects', z.object({ a: z.tuple([z.object({ b: z.string() }), z.object({ b: z.string() })]) }), {
    a: [{ b: 'x' }, { b: 'y' }],
  }),
  shape('record of known keys', z.record(z.enum(['a', 'b']), z.number()), { a: 1, b: 2 }),
  shape('partial record', z.partialRecord(z.enum(['a', 'b']), z.number()), { a: 1, b: null }, { a: 1 }),
  shape(
    'intersection',
    z.intersection(z.object({ a: z.string() }), z.object({ b: z.number().optional() })),
    { a: 'x', b: null },
    { a: 'x' },
  ),
  shape('tree', Tree, { label: 'a', children: [{ label: 'b', children: [] }] }),
  shape('list of trees', z.array(Tree), [{ label: 'a', children: [] }]),
  shape(
    'recursive union',
    Expression,
    { op: 'sum', terms: [{ op: 'number', value: 1, unit: null }] },
    { op: 'sum', terms: [{ op: 'number', value: 1 }] },
  ),
  shape(
    'shared definition',
    z.object({ home: Address, work: Address.optional() }),
    { home: { street: 'a', zip: null }, work: null },
    { home: { street: 'a' } },
  ),
  shape(
    'descriptions',
    z.object({ a: z.string().describe('A name.').optional() }).describe('A thing.'),
    { a: null },
    {},
  ),
  shape('transform', z.object({ a: z.string().transform((text) => text.length) }), { a: 'abc' }, { a: 3 }),
  shape(
    'refinement',
    z.object({ a: z.string() }).refine(({ a }) => a !== ''),
    { a: 'x' },
  ),
  shape('keys of a prototype', z.object({ constructor: z.string(), toString: z.string() }), {
    constructor: 'x',
    toString: 'y',
  }),
  loose('record', z.record(z.string(), z.number()), { a: 1 }),
  loose('record inside', z.object({ a: z.record(z.string(), z.string()).optional() }), { a: { b: 'c' } }),
  loose('loose object', z.looseObject({ a: z.string() }), { a: 'x', more: 1 }),
  loose('catchall', z.object({ a: z.string() }).catchall(z.number()), { a: 'x', more: 1 }),
  loose('any value', z.object({ a: z.unknown(), b: z.any().optional() }), { a: [1], b: null }),
  loose('JSON', z.json(), { a: [1, null] }),
];

interface Format {
  readonly type: string;
  readonly json_schema: { readonly strict: boolean; readonly schema: Readonly<Record<string, unknown>> };
}

function formatOf(request: ReceivedRequest | undefined): Format {
  assert.ok(request?.body.response_format);
  return request.body.response_format as unknown as Format;
}

/** A reply of a service in which optional keys can be absent. */
function withoutNulls(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value, (_key, item: unknown) => (item === null ? undefined : item)) ?? 'null');
}

/** A service that answers 400 to a strict schema that it does not take, and otherwise writes what the schema asks for. */
function strictService(provider: string, written: () => unknown): Answer {
  return (response, request) => {
    const { json_schema: format } = formatOf(request);
    const refused = format.strict ? refusals(provider, format.schema) : [];
    if (refused.length > 0)
      return json(400, { error: { message: `Invalid schema: ${refused.join('; ')}` } })(response, request);
    const values = [written(), withoutNulls(written())].flatMap((value) => [value, { value }]);
    reply(JSON.stringify(values.find((value) => jsonSchemaIssues(format.schema, value).length === 0)))(
      response,
      request,
    );
  };
}

function clientOf(provider: string, baseUrl: string): LLMClient {
  const model = provider === 'groq' ? { model: 'openai/gpt-oss-20b' } : {};
  return new LLMClient({ provider, baseUrl, apiKey: 'sk-1', ...model });
}

for (const provider of Object.keys(PUBLISHED)) {
  test(`${provider} takes the schemas of ${SHAPES.length} shapes, and the caller gets their values`, async (t) => {
    let written: unknown;
    const { baseUrl, requests } = await chatServer(
      t,
      strictService(provider, () => written),
    );
    const llm = clientOf(provider, baseUrl);
    for (const each of SHAPES) {
      ({ written } = each);
      assert.deepEqual(await llm.ask('x', { schema: each.schema }), each.value, each.name);
      const format = formatOf(requests.at(-1)).json_schema;
      const isOpen = !PUBLISHED[provider]?.isClosed;
      assert.equal(format.strict, each.isLoose !== true || isOpen, each.name);
      assert.ok(!JSON.stringify(format.schema).includes('$schema'), each.name);
    }
    assert.equal(requests.length, SHAPES.length, 'a reply was sent back');
  });
}

test('a schema over the limits of a service is not sent as strict', async (t) => {
  const { baseUrl, requests } = await chatServer(t, reply('{}'));
  const keys = Array.from({ length: 101 }, (_, index) => [`key${index}`, z.string().optional()] as const);
  const deep = (levels: number): z.ZodType =>
    levels === 0 ? z.string().optional() : z.object({ a: deep(levels - 1) }).optional();
  const strictOf = async (provider: string, schema: z.ZodType): Promise<boolean | undefined> => {
    await clientOf(provider, baseUrl).ask('x', { schema });
    return requests.at(-1)?.body.response_format?.json_schema.strict;
  };
  const wide = z.object(Object.fromEntries(keys));
  assert.deepEqual([await strictOf('openai', wide), await strictOf('azure', wide)], [true, false]);
  const nested = z.object({ a: deep(7) });
  assert.deepEqual([await strictOf('openai', nested), await strictOf('azure', nested)], [true, false]);
});

test('limits that a service does not take are in the description', async (t) => {
  const { baseUrl, requests } = await chatServer(t, reply('{"a":"abc","b":["x",1],"c":"https://example.org"}'));
  const schema = z.object({
    a: z.string().max(5).describe('A code.'),
    b: z.tuple([z.string(), z.number()]),
    c: z.url(),
  });
  await clientOf('azure', baseUrl).ask('x', { schema });
  const format = formatOf(requests[0]);
  const { a, b, c } = format.json_schema.schema['properties'] as Record<string, { description?: string }>;
  assert.deepEqual(a, { description: 'A code. (maxLength: 5)', type: 'string' });
  assert.match(b?.description ?? '', /items in this order/);
  assert.deepEqual(c, { description: '(format: uri)', type: 'string' });
});

test('a service that only promises JSON gets the schema in the prompt, and one that promises nothing too', async (t) => {
  const { baseUrl, requests } = await chatServer(t, reply('{"value":["a"]}'), reply('["a"]'));
  const schema = z.array(z.string());
  assert.deepEqual(await clientOf('deepseek', baseUrl).ask('x', { schema }), ['a']);
  assert.deepEqual(requests[0]?.body.response_format, { type: 'json_object' });
  assert.match(requests[0].body.messages[0]?.content ?? '', /JSON schema.*"value"/s);
  for (const provider of ['anthropic', 'bedrock', 'custom']) {
    const llm = new LLMClient({ provider, baseUrl, apiKey: 'sk-1', model: 'm' });
    assert.deepEqual(await llm.ask('x', { schema }), ['a']);
    assert.equal(requests.at(-1)?.body.response_format, undefined);
    assert.match(requests.at(-1)?.body.messages[0]?.content ?? '', /JSON schema.*"array"/s);
  }
  const groq = new LLMClient({ provider: 'groq', baseUrl, apiKey: 'sk-1', model: 'llama-3.1-8b-instant' });
  assert.deepEqual(await groq.ask('x', { schema }), ['a']);
  assert.equal(requests.at(-1)?.body.response_format, undefined);
});

test('a model that leaves out the wrapper, or writes null for an optional key without being asked, is understood', async (t) => {
  const { baseUrl } = await chatServer(t, reply('["a"]'), reply('{"a":null}'));
  assert.deepEqual(await clientOf('openai', baseUrl).ask('x', { schema: z.array(z.string()) }), ['a']);
  const custom = new LLMClient({ baseUrl, model: 'm' });
  assert.deepEqual(await custom.ask('x', { schema: z.object({ a: z.string().optional() }) }), {});
});

test('JSON after the reasoning of a model is read', async (t) => {
  const schema = z.object({ a: z.string() });
  const replies = [
    '<think>Maybe {"a": 1}? No.</think>\n{"a":"x"}',
    'The opening tag is in the template.</think>```json\n{"a":"x"}\n```',
    '{"a":"x"}',
  ];
  const { baseUrl, requests } = await chatServer(t, ...replies.map((text) => reply(text)), reply('{"a":"</think>"}'));
  const llm = new LLMClient({ baseUrl, model: 'm' });
  for (const text of replies) assert.deepEqual(await llm.ask('x', { schema }), { a: 'x' }, text);
  assert.deepEqual(await llm.ask('x', { schema }), { a: '</think>' });
  assert.equal(requests.length, 4);
});

test('repairs is how often a reply is sent back', async (t) => {
  const schema = z.object({ a: z.string() });
  for (const [repairs, sent] of [
    [0, 1],
    [undefined, 2],
    [3, 4],
  ] as const) {
    const { baseUrl, requests } = await chatServer(t, reply('{"a":1}'));
    const llm = new LLMClient({ baseUrl, model: 'm' });
    await assert.rejects(llm.ask('x', { schema, repairs }), /does not match the schema/);
    assert.equal(requests.length, sent);
  }
  const { baseUrl } = await chatServer(t, reply('{"a":1}'), reply('{"a":2}'), reply('{"a":"x"}'));
  const llm = new LLMClient({ baseUrl, model: 'm' });
  assert.deepEqual(await llm.ask('x', { schema, repairs: 2 }), { a: 'x' });
  await assert.rejects(llm.ask('x', { schema, repairs: -1 }), { name: 'RangeError', message: /repairs of ask is -1/ });
});

test('a stream with a schema yields what has arrived, and at last the checked value', async (t) => {
  const schema = z.object({
    city: z.string(),
    sights: z.array(z.object({ name: z.string(), age: z.number() })),
    note: z.string().default('none'),
  });
  const pieces = ['{"city":"Os', 'lo","sights":[{"na', 'me":"Ship","age":11', '00}', '],"note":nu', 'll}'];
  const { baseUrl, requests } = await chatServer(
    t,
    streamed([...pieces.map((text) => delta(text)), delta('', 'stop'), '[DONE]']),
  );
  const seen = await Array.fromAsync(clientOf('openai', baseUrl).askStream('x', { schema }));
  assert.deepEqual(seen, [
    { city: 'Os' },
    { city: 'Oslo', sights: [{}] },
    { city: 'Oslo', sights: [{ name: 'Ship' }] },
    { city: 'Oslo', sights: [{ name: 'Ship', age: 1100 }] },
    { city: 'Oslo', sights: [{ name: 'Ship', age: 1100 }], note: 'none' },
  ]);
  assert.equal(requests[0]?.body.response_format?.json_schema.strict, true);
});

test('a streamed list is unwrapped, and a streamed value that does not match is repaired', async (t) => {
  const schema = z.array(z.number());
  const wrapped = streamed([delta('{"value":[1,'), delta('2,3]}', 'stop'), '[DONE]']);
  const { baseUrl } = await chatServer(
    t,
    wrapped,
    streamed([delta('<think>[9]</think>["a"]', 'stop'), '[DONE]']),
    reply('[4]'),
  );
  assert.deepEqual(await Array.fromAsync(clientOf('openai', baseUrl).askStream('x', { schema })), [
    [1],
    [1, 2, 3],
    [1, 2, 3],
  ]);
  const custom = new LLMClient({ baseUrl, model: 'm' });
  assert.deepEqual(await Array.fromAsync(custom.askStream('x', { schema })), [['a'], [4]]);
});

test('groq gets the schema of a stream in the prompt', async (t) => {
  const { baseUrl, requests } = await chatServer(t, streamed([delta('{"a":1}', 'stop'), '[DONE]']));
  const seen = await Array.fromAsync(clientOf('groq', baseUrl).askStream('x', { schema: z.object({ a: z.number() }) }));
  assert.deepEqual(seen.at(-1), { a: 1 });
  assert.equal(requests[0]?.body.response_format, undefined);
});

/** A schema of a library that follows Standard Schema, with or without its JSON Schema. */
function foreign(vendor: string, jsonSchema?: object): Schema<{ a: string }> {
  const standard = {
    version: 1 as const,
    vendor,
    validate: (value: unknown) =>
      typeof value === 'object' && value !== null && 'a' in value
        ? { value: value as { a: string } }
        : { issues: [{ message: 'no a' }] },
  };
  return {
    '~standard': jsonSchema === undefined ? standard : { ...standard, jsonSchema: { input: () => jsonSchema } },
  } as Schema<{ a: string }>;
}

async function warnings(t: TestContext, work: () => Promise<void>): Promise<string[]> {
  const { mock } = t.mock.method(console, 'warn', () => {});
  await work();
  return mock.calls.map(({ arguments: [text] }) => String(text));
}

test('schemas of zod 3 and of libraries that write JSON Schema are sent, and for others the client says once that they are not', async (t) => {
  const { baseUrl, requests } = await chatServer(t, reply('{"a":"x"}'));
  const llm = clientOf('openai', baseUrl);
  const sent = (): unknown => requests.at(-1)?.body.response_format?.json_schema;
  const strictA = {
    name: 'reply',
    strict: true,
    schema: { type: 'object', properties: { a: { type: 'string' } }, required: ['a'], additionalProperties: false },
  };
  const asArktype = Object.assign(foreign('arktype'), {
    toJsonSchema: () => ({ type: 'object', properties: { a: { type: 'string' } }, required: ['a'] }),
  });
  const known = [
    z3.object({ a: z3.string() }) as unknown as Schema,
    foreign('some', { $schema: 'x', type: 'object', properties: { a: { type: 'string' } }, required: ['a'] }),
    asArktype,
  ];
  assert.deepEqual(
    await warnings(t, async () => {
      for (const schema of known) {
        assert.deepEqual(await llm.ask('x', { schema }), { a: 'x' });
        assert.deepEqual(sent(), strictA);
      }
    }),
    [],
  );
  const texts = await warnings(t, async () => {
    await llm.ask('x', { schema: foreign('yup') });
    await llm.ask('x', { schema: foreign('yup') });
  });
  assert.equal(texts.length, 1);
  assert.match(texts[0] ?? '', /does not see schemas of "yup".*zod 4/);
  assert.equal(sent(), undefined);
});
