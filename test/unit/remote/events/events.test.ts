import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseEvents } from '../../../../src/remote/events/parseEvents.ts';
import type { ServerSentEvent } from '../../../../src/remote/protocol/schemas.ts';

async function* chunks(...parts: readonly Uint8Array[]): AsyncGenerator<Uint8Array> {
  yield* parts;
}

function parse(...parts: readonly (string | Uint8Array)[]): Promise<ServerSentEvent[]> {
  const bytes = parts.map((part) => (typeof part === 'string' ? Buffer.from(part) : part));
  return Array.fromAsync(parseEvents(chunks(...bytes)));
}

/** Whole, in two chunks cut at every position, and byte by byte: the result may not depend on it. */
async function parseCutEverywhere(text: string | Buffer, expected: readonly ServerSentEvent[]): Promise<void> {
  const bytes = Buffer.from(text);
  assert.deepEqual(await parse(bytes), expected);
  for (let cut = 0; cut <= bytes.length; cut++) {
    assert.deepEqual(await parse(bytes.subarray(0, cut), bytes.subarray(cut)), expected, `cut at byte ${cut}`);
  }
  const single = Array.from(bytes, (byte) => Uint8Array.of(byte));
  assert.deepEqual(await parse(...single), expected, 'byte by byte');
}

const message = (data: unknown): ServerSentEvent => ({ event: 'message', data });

const FIXTURES: Record<string, readonly [text: string, expected: readonly ServerSentEvent[]]> = {
  'a name, an id and JSON': [
    'event: log\nid: 7\ndata: {"text":"hi"}\n\n',
    [{ event: 'log', data: { text: 'hi' }, id: '7' }],
  ],
  'an event without a name is a message': ['data: x\n\n', [message('x')]],
  'an empty name is none': ['event:\ndata: x\n\n', [message('x')]],
  'the last name wins, and is gone after its event': [
    'event: a\nevent: b\ndata: 1\n\ndata: 2\n\n',
    [{ event: 'b', data: 1 }, message(2)],
  ],
  'values are trimmed at both ends': ['event:   log \t\ndata: \t x y \t \n\n', [{ event: 'log', data: 'x y' }]],
  'data lines are joined by line feeds': ['data: a\ndata:  b\ndata:c\n\n', [message('a\nb\nc')]],
  'JSON over several lines': ['data: {"a":\ndata: 1}\n\n', [message({ a: 1 })]],
  'JSON beside empty data lines': ['data:\ndata: [1]\ndata:\n\n', [message([1])]],
  'JSON of every kind': [
    ['true', 'false', 'null', '-1.5e3', '"s"', '[]', '{}'].map((json) => `data: ${json}\n\n`).join(''),
    [true, false, null, -1500, 's', [], {}].map(message),
  ],
  'text that only looks like JSON': [
    ['[INFO] x', '[INFO]', '{a}', 'true!', '01', '1.', 'NaN', '"', 'nul', '+1', '-']
      .map((x) => `data: ${x}\n\n`)
      .join(''),
    ['[INFO] x', '[INFO]', '{a}', 'true!', '01', '1.', 'NaN', '"', 'nul', '+1', '-'].map(message),
  ],
  'empty data counts': ['data:\n\ndata: \n\n', [message(''), message('')]],
  'two empty data lines are a line feed': ['data:\ndata:\n\n', [message('\n')]],
  'a field without its colon is ignored': ['data\n\nevent\ndata: x\n\n', [message('x')]],
  'unknown fields and longer names are ignored': ['retry: 5\ndatas: y\n data: z\nDATA: z\ndata: x\n\n', [message('x')]],
  'comments and blank lines alone give nothing': [': keep-alive\n\n\n:\n\n', []],
  'a comment inside an event changes nothing': ['event: a\n: hm\ndata: x\n:\n\n', [{ event: 'a', data: 'x' }]],
  'a name survives a blank line without data': ['event: a\n\ndata: x\n\n', [{ event: 'a', data: 'x' }]],
  'a name alone gives nothing': ['event: a\n\n', []],
  'the end of the stream ends the event': ['data: a\ndata: b', [message('a\nb')]],
  'the end of the stream ends a line': ['event: a\ndata: x\n', [{ event: 'a', data: 'x' }]],
  'lines end at CRLF': [
    'event: a\r\ndata: x\r\ndata: y\r\n\r\ndata: z\r\n\r\n',
    [{ event: 'a', data: 'x\ny' }, message('z')],
  ],
  'lines end at a lone CR': ['event: a\rdata: x\rdata: y\r\rdata: z\r\r', [{ event: 'a', data: 'x\ny' }, message('z')]],
  'line ends may be mixed': ['data: a\rdata: b\r\ndata: c\n\r\ndata: d\r\r\n\n', [message('a\nb\nc'), message('d')]],
  'lines do not end at U+2028 or U+0085': ['data: a\u2028b\u2029c\u0085d\n\n', [message('a\u2028b\u2029c\u0085d')]],
  'characters of every length': ['event: é\ndata: aé€😀z\n\n', [{ event: 'é', data: 'aé€😀z' }]],
  'a leading byte order mark is dropped': ['\uFEFFdata: x\n\n', [message('x')]],
  'a second byte order mark is not': ['\uFEFF\uFEFFdata: y\ndata: x\n\n', [message('x')]],
  'an id belongs to its event': [
    'id: 1\ndata: a\n\ndata: b\n\n',
    [{ event: 'message', data: 'a', id: '1' }, message('b')],
  ],
  'an id with a NUL is ignored': ['id: a\0b\ndata: x\n\n', [message('x')]],
  'no bytes': ['', []],
};

for (const [name, [text, expected]] of Object.entries(FIXTURES)) {
  test(`events: ${name}`, () => parseCutEverywhere(text, expected));
}

test('invalid UTF-8 is replaced and ends with its line', async () => {
  await parseCutEverywhere(Buffer.from('64617461 3a 61ff62 e282 0a0a'.replaceAll(' ', ''), 'hex'), [
    message('a\uFFFDb\uFFFD'),
  ]);
});

test('JSON nested deeper than 1,000 stays text, so that nothing later overflows the stack', async () => {
  const nested = (depth: number) => '['.repeat(depth) + ']'.repeat(depth);
  const [fine, deep, quoted] = await parse(
    `data: ${nested(1000)}\n\ndata: ${nested(1001)}\n\ndata: "${'['.repeat(3000)}\\""\n\n`,
  );
  assert.ok(Array.isArray(fine?.data));
  assert.equal(deep?.data, nested(1001));
  assert.equal(quoted?.data, `${'['.repeat(3000)}"`);
});

test('a line may have 8 MB and no more, whole or in pieces', async () => {
  const limit = 8 * 1024 * 1024;
  const line = Buffer.alloc(limit, 'x');
  line.write('data:');
  const [event] = await parse(line, '\n\n');
  assert.equal(String(event?.data).length, limit - 5);
  const message = 'The service sent a line longer than 8 MB. Check that the address is that of a job service.';
  const isLimit = { name: 'AppError', code: 'limit', message };
  await assert.rejects(parse(Buffer.concat([line, Buffer.from('x\n\n')])), isLimit);
  await assert.rejects(parse(line.subarray(0, 100), line.subarray(100), 'x'), isLimit);
});

test('a line without an end fails once it is too long, not when memory is used up', async () => {
  let given = 0;
  async function* endless(): AsyncGenerator<Uint8Array> {
    for (;;) {
      given += 1024 * 1024;
      yield Buffer.alloc(1024 * 1024, 'x');
    }
  }
  await assert.rejects(Array.fromAsync(parseEvents(endless())), { code: 'limit' });
  assert.equal(given, 9 * 1024 * 1024);
});

test('an event of more than 16 MB fails', async () => {
  const line = `data: ${'x'.repeat(1024 * 1024)}\n`;
  await assert.rejects(parse(...Array.from({ length: 17 }, () => line)), {
    name: 'AppError',
    code: 'limit',
    message: 'The service sent an event that needs more than 16 MB. Check that the address is that of a job service.',
  });
});

test('an event of very many short lines fails long before they take much memory', async () => {
  const lines = 'data:a\n'.repeat(100_000);
  let given = 0;
  async function* endless(): AsyncGenerator<Uint8Array> {
    for (; given < 100; given += 1) yield Buffer.from(lines);
  }
  await assert.rejects(Array.fromAsync(parseEvents(endless())), { code: 'limit' });
  assert.ok(given < 10, `${given} × 100,000 lines`);
});

test('leaving the loop closes the source and gives nothing more', async () => {
  let isClosed = false;
  async function* source(): AsyncGenerator<Uint8Array> {
    try {
      for (;;) yield Buffer.from('data: 1\n\ndata: 2\n\n');
    } finally {
      isClosed = true;
    }
  }
  const events = parseEvents(source())[Symbol.asyncIterator]();
  assert.deepEqual(await events.next(), { done: false, value: message(1) });
  await events.return?.();
  assert.equal(isClosed, true);
  assert.deepEqual(await events.next(), { done: true, value: undefined });
});

test('a source is closed once, and not asked again', async () => {
  const calls: string[] = [];
  const source: AsyncIterator<Uint8Array> = {
    next: async () => {
      calls.push('next');
      return { done: false, value: Buffer.from('data: 1\n\n') };
    },
    return: async () => {
      calls.push('return');
      return { done: true, value: undefined };
    },
  };
  const events = parseEvents({ [Symbol.asyncIterator]: () => source })[Symbol.asyncIterator]();
  await events.next();
  await Promise.all([events.return?.(), events.return?.()]);
  assert.equal((await events.next()).done, true);
  assert.deepEqual(calls, ['next', 'return']);
});

test('events that came before a failure of the source are given first', async () => {
  async function* source(): AsyncGenerator<Uint8Array> {
    yield Buffer.from('data: 1\n\ndata: 2\n\ndata: 3');
    throw new Error('cut');
  }
  const seen: unknown[] = [];
  await assert.rejects(async () => {
    for await (const { data } of parseEvents(source())) seen.push(data);
  }, /cut/);
  assert.deepEqual(seen, [1, 2]);
});

test('calls of next that do not wait for each other get the events in order', async () => {
  const events = parseEvents(chunks(Buffer.from('data: 1\n\n'), Buffer.from('data: 2\n\ndata: 3\n\n')))[
    Symbol.asyncIterator
  ]();
  const results = await Promise.all([events.next(), events.next(), events.next(), events.next()]);
  assert.deepEqual(
    results.map(({ done, value }) => (done === true ? 'end' : value.data)),
    [1, 2, 3, 'end'],
  );
});

test('a call of next that follows a finished one waits for those before it', async () => {
  const source = chunks(...['data: 1\n\n', 'data: ', '2\n\n', 'data: 3\n\n'].map((text) => Buffer.from(text)));
  const events = parseEvents(source)[Symbol.asyncIterator]();
  const [first, second] = [events.next(), events.next()];
  const results = [await first, ...(await Promise.all([second, events.next()]))];
  assert.deepEqual(
    results.map(({ done, value }) => (done === true ? 'end' : value.data)),
    [1, 2, 3],
  );
});

test('JSON that ends with an empty data line is JSON like any other', async () => {
  for (const json of ['"q"', '{"a":1}', '[1]', 'true', 'false', 'null', '-1.5']) {
    const [event] = await Array.fromAsync(parseEvents(bytesOf(`data: ${json}\ndata:\n\n`)));
    assert.deepEqual(event?.data, JSON.parse(json), json);
    const [begun] = await Array.fromAsync(parseEvents(bytesOf(`data:\ndata: ${json}\ndata:\n\n`)));
    assert.deepEqual(begun?.data, JSON.parse(json), json);
  }
  const [text] = await Array.fromAsync(parseEvents(bytesOf('data: "q\ndata:\n\n')));
  assert.equal(text?.data, '"q\n');
});

async function* bytesOf(text: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(text);
}
