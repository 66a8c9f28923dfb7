import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { duplexPair, type Duplex } from 'node:stream';
import { test, type TestContext } from 'node:test';
import { pathToFileURL } from 'node:url';
import { AppError } from '../../../../src/core/errors.ts';
import { DebugConnection } from '../../../../src/jobs/debug/debugConnection.ts';
import { type DebugMessage, readMessages, writeMessage } from '../../../../src/jobs/debug/debugMessages.ts';
import { JobSources } from '../../../../src/jobs/debug/jobSources.ts';
import { compareLines } from '../../../../src/jobs/source/lineMap.ts';
import { fieldsOf, listOf } from './debugClient.ts';

/** A connection to a debugger that this test plays. */
function connected(t: TestContext) {
  const folder = mkdtempSync(join(tmpdir(), 'farwharf-debug-'));
  t.after(() => rmSync(folder, { recursive: true }));
  writeFileSync(join(folder, 'train.py'), 'one\ntwo\n');
  const [near, far] = duplexPair();
  const gone = async (): Promise<never> => {
    throw new AppError('missing', 'gone');
  };
  const sources = new JobSources({
    id: 'job',
    jobFolder: '/job',
    localFolder: folder,
    submitted: { list: gone, read: gone },
    compare: compareLines,
  });
  const received: DebugMessage[] = [];
  const connection = new DebugConnection(near, sources, (message) => void received.push(message));
  t.after(() => connection[Symbol.dispose]());
  const requests = readMessages(far);
  let seq = 0;
  return {
    connection,
    folder,
    job: far,
    received,
    /** Sends a request of the client, and answers it as the job. Resolves to the request as it arrived, and the response. */
    ask: async (command: string, args: object, body: object) => {
      seq += 1;
      const clientSeq = seq;
      await connection.fromClient({ seq, type: 'request', command, arguments: args });
      const request = (await requests.next()).value ?? {};
      send(far, { seq, type: 'response', request_seq: request['seq'], command, success: true, body });
      const response = await until(() =>
        received.find((each) => each['type'] === 'response' && each['request_seq'] === clientSeq),
      );
      return { request, body: fieldsOf(response['body']) };
    },
    next: async (): Promise<DebugMessage> => (await requests.next()).value ?? {},
  };
}

function send(stream: Duplex, message: DebugMessage): void {
  stream.write(writeMessage(message));
}

async function until<T>(find: () => T | undefined): Promise<T> {
  for (;;) {
    const found = find();
    if (found !== undefined) return found;
    await new Promise((resolve) => void setImmediate(resolve));
  }
}

test('a debugger that asks for a program or a session is refused, and events of its own go nowhere', async (t) => {
  const { job, next, received } = connected(t);
  for (const command of ['runInTerminal', 'startDebugging', 'anything']) {
    send(job, { seq: 1, type: 'request', command, arguments: { args: ['touch', '/tmp/x'] } });
    const answer = await next();
    assert.deepEqual([answer['command'], answer['success']], [command, false]);
  }
  send(job, { type: 'event', event: 'debugpyAttach', body: { connect: { host: '10.0.0.1', port: 1 } } });
  send(job, { type: 'response', request_seq: 77, command: 'evaluate', success: true, body: {} });
  send(job, { type: 'event', event: 'terminated', body: { restart: { host: 'evil' } } });
  await until(() => received[0]);
  assert.deepEqual(received, [{ type: 'event', event: 'terminated', body: {}, seq: 1 }]);
});

test('the client gets no way to end the job, and what it sends is filled in', async (t) => {
  const { ask } = connected(t);
  const started = await ask(
    'initialize',
    { adapterID: 'x', supportsRunInTerminalRequest: true, linesStartAt1: false },
    { supportsTerminateRequest: true, supportTerminateDebuggee: true, supportsLogPoints: true },
  );
  assert.equal(fieldsOf(started.request['arguments'])['supportsRunInTerminalRequest'], false);
  assert.deepEqual(started.body, { supportsLogPoints: true });
  const launched = await ask('launch', { justMyCode: false, program: '/etc/passwd', env: { KEY: 'secret' } }, {});
  assert.equal(launched.request['command'], 'attach');
  assert.deepEqual(Object.keys(fieldsOf(launched.request['arguments'])), [
    'justMyCode',
    'pathMappings',
    'redirectOutput',
    'debugOptions',
  ]);
  const left = await ask('disconnect', { terminateDebuggee: true, restart: true }, {});
  assert.deepEqual(left.request['arguments'], { restart: false, terminateDebuggee: false });
});

test('paths lead to no file outside of the folder, and texts are clean', async (t) => {
  const { ask, folder } = connected(t);
  await ask('initialize', { pathFormat: 'uri', linesStartAt1: false }, {});
  const paths = ['/job/train.py', '/job/../etc/passwd', '/etc/passwd', 'command:evil', '/job/none.py', '/job/'];
  const stackFrames = paths.map((path, id) => ({ id, name: '\u001b[2Jmain\u202e', line: 2, source: { path } }));
  const { body } = await ask('stackTrace', { threadId: 1 }, { stackFrames });
  const frames = listOf(body['stackFrames']);
  assert.deepEqual(
    frames.map(({ source }) => fieldsOf(source)['path']),
    [pathToFileURL(join(folder, 'train.py')).href, ...paths.slice(1).map(() => undefined)],
  );
  assert.deepEqual([frames[0]?.['name'], frames[0]?.['line']], ['main', 1]);
  const values = await ask('variables', {}, { variables: [{ name: 'a', value: '\u001b]52;c;x\u0007b' }, 7, null] });
  assert.deepEqual(values.body['variables'], [{ name: 'a', value: 'b' }, 7, null]);
});

test('answers of the wrong form are answered', async (t) => {
  const { ask } = connected(t);
  for (const body of [[], { stackFrames: 7 }, { stackFrames: [7, null, { source: 'x', line: '7' }] }]) {
    const { body: answer } = await ask('stackTrace', { threadId: 1 }, body);
    assert.equal(typeof answer, 'object');
  }
  const source = { path: '/job/train.py', sourceReference: 3 };
  const { body } = await ask(
    'setBreakpoints',
    { source, breakpoints: [{ line: 1 }, { line: 2 }] },
    { breakpoints: [9] },
  );
  assert.deepEqual(
    listOf(body['breakpoints']).map(({ verified }) => verified),
    [false, false],
  );
});

test('output without end stops being shown', async (t) => {
  const { job, received } = connected(t);
  const output = 'x'.repeat(1_000_000);
  for (let count = 0; count < 30; count += 1) send(job, { type: 'event', event: 'output', body: { output } });
  send(job, { type: 'event', event: 'terminated' });
  await until(() => received.find(({ event }) => event === 'terminated'));
  const texts = received.map(({ body }) => fieldsOf(body)['output']);
  assert.equal(texts.filter((text) => text === output).length, 10);
  assert.match(JSON.stringify(texts.at(-2)), /in the log of the job/);
});

for (const [name, bytes] of [
  ['text that is no message', `HTTP/1.1 200 OK${'x'.repeat(5_000)}`],
  ['no length', 'Content-Type: x\r\n\r\n{}'],
  ['a huge length', 'Content-Length: 999999999\r\n\r\n{'],
  ['no JSON', 'Content-Length: 3\r\n\r\n{a}'],
  ['a list', 'Content-Length: 2\r\n\r\n[]'],
  ['deep JSON', `Content-Length: 20000\r\n\r\n${'['.repeat(20_000)}`],
] as const) {
  test(`a debugger that sends ${name} is disconnected, and the client learns why`, async (t) => {
    const { connection, job, received } = connected(t);
    job.write(bytes);
    await connection.ended;
    assert.match(String(fieldsOf(received[0]?.['body'])['output']), /not understood/);
    assert.equal(received[1]?.['event'], 'terminated');
  });
}

test('messages in pieces of one byte arrive whole, and a large one too', async () => {
  const [near, far] = duplexPair();
  const messages = [{ a: 'ü€𝒳' }, { b: 'y'.repeat(3_000_000) }, { c: 1 }];
  const bytes = Buffer.concat(messages.map(writeMessage));
  void (async () => {
    for (const byte of bytes.subarray(0, 40)) far.write(Buffer.from([byte]));
    far.end(bytes.subarray(40));
  })();
  assert.deepEqual(await Array.fromAsync(readMessages(near)), messages);
});
