import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { test, type TestContext } from 'node:test';
import { MessageChannel, type MessagePort, Worker } from 'node:worker_threads';
import { AppError, isAbort } from '../../../../src/core/errors.ts';
import { type LoadableService, serveCalls } from '../../../../src/core/rpc/serveCalls.ts';
import { decodeError, encodeError } from '../../../../src/core/rpc/errorData.ts';
import { RemoteCaller, type RemoteCallerOptions } from '../../../../src/core/rpc/remoteCaller.ts';

function connect<S extends Readonly<Record<string, object>>>(t: TestContext, service: LoadableService<S>) {
  const { port1, port2 } = new MessageChannel();
  const server = serveCalls(port2, service);
  const caller = new RemoteCaller<S>(() => port1);
  t.after(() => {
    server.dispose();
    caller.dispose();
    port1.close();
    port2.close();
  });
  return caller;
}

test('a call answers with what the function gives, maps and buffers included', async (t) => {
  const shop = { price: (items: Map<string, number>) => [...items.values()].reduce((sum, item) => sum + item, 0) };
  const { service } = connect(t, { shop });
  assert.equal(
    await service.shop.price(
      new Map([
        ['a', 2],
        ['b', 3],
      ]),
    ),
    5,
  );
});

test('methods of a class keep their object', async (t) => {
  class Counter {
    #count = 0;
    increase(by: number): number {
      return (this.#count += by);
    }
  }
  const { service } = connect(t, { counter: new Counter() });
  await service.counter.increase(2);
  assert.equal(await service.counter.increase(3), 5);
});

test('a group that is loaded by its first call is loaded once', async (t) => {
  let loads = 0;
  const load = async () => {
    loads += 1;
    return { number: () => loads };
  };
  const { service } = connect<{ counted: { number(): number } }>(t, { counted: load });
  assert.equal(loads, 0);
  assert.deepEqual(await Promise.all([service.counted.number(), service.counted.number()]), [1, 1]);
});

test('progress callbacks arrive in order and before the result', async (t) => {
  const work = {
    run(steps: number, { onProgress }: { onProgress: (done: number, total: number) => void }) {
      for (let step = 1; step <= steps; step += 1) onProgress(step, steps);
      return 'done';
    },
  };
  const { service } = connect(t, { work });
  const seen: number[] = [];
  assert.equal(await service.work.run(3, { onProgress: (done) => void seen.push(done) }), 'done');
  assert.deepEqual(seen, [1, 2, 3]);
});

const retryAfter = {
  wait: ({ signal }: { signal: AbortSignal }) =>
    new Promise<void>((_, reject) => {
      if (signal.aborted) reject(signal.reason as Error);
      signal.addEventListener('abort', () => reject(signal.reason as Error));
    }),
};

test('an abort reaches the other side and comes back as an abort', async (t) => {
  const { service } = connect(t, { retryAfter });
  const controller = new AbortController();
  const waiting = service.retryAfter.wait({ signal: controller.signal });
  setImmediate(() => controller.abort());
  await assert.rejects(waiting, isAbort);
});

test('a signal that outlives many calls keeps none of them', async (t) => {
  const { service } = connect(t, { echo: { back: (value: number, _options: { signal: AbortSignal }) => value } });
  const { signal } = new AbortController();
  for (let value = 0; value < 3; value += 1) assert.equal(await service.echo.back(value, { signal }), value);
  assert.equal(getEventListeners(signal, 'abort').length, 0);
});

test('a signal that was aborted before the call aborts it', async (t) => {
  const { service } = connect(t, { retryAfter });
  await assert.rejects(service.retryAfter.wait({ signal: AbortSignal.abort() }), isAbort);
});

test('an AppError keeps its code, sentence and cause', async (t) => {
  const failing = {
    fail(): void {
      throw new AppError('no-space', 'The disk is full.', {
        cause: Object.assign(new Error('write'), { code: 'ENOSPC' }),
      });
    },
  };
  const { service } = connect(t, { failing });
  await assert.rejects(service.failing.fail(), (error) => {
    assert.ok(error instanceof AppError);
    assert.equal(error.code, 'no-space');
    assert.equal(error.message, 'The disk is full.');
    assert.deepEqual({ ...(error.cause as object) }, { code: 'ENOSPC', name: 'Error' });
    return true;
  });
});

test('other errors keep their name and fields', async (t) => {
  class TeapotError extends Error {
    override readonly name = 'TeapotError';
    readonly status = 418;
  }
  const { service } = connect(t, {
    kitchen: {
      brew(): void {
        throw new TeapotError('short and stout');
      },
    },
  });
  await assert.rejects(service.kitchen.brew(), { name: 'TeapotError', message: 'short and stout', status: 418 });
});

test('an unknown function is an error, not silence', async (t) => {
  const { service } = connect<{ shop: { price(): number } }>(t, { shop: {} as { price(): number } });
  await assert.rejects(service.shop.price(), /shop\.price does not exist/);
});

test('an argument that cannot be copied rejects its own call only', async (t) => {
  const { service } = connect(t, { echo: { back: (value: unknown) => value } });
  await assert.rejects(service.echo.back([() => {}]), { name: 'DataCloneError' });
  assert.equal(await service.echo.back('still here'), 'still here');
});

test('a worker that dies rejects what is pending, and the next call starts another one', async (t) => {
  const program = (body: string) =>
    `const { parentPort } = require('node:worker_threads'); parentPort.on('message', (call) => { ${body} })`;
  const programs = [
    program('process.exit(1)'),
    program("parentPort.postMessage({ type: 'result', id: call.id, value: 7 })"),
  ];
  const workers: Worker[] = [];
  const caller = new RemoteCaller<{ shop: { price(): number } }>((onLost) => {
    const worker = new Worker(programs[workers.length] ?? '', { eval: true });
    worker.on('exit', () => onLost(new AppError('unreachable', 'The worker stopped.')));
    workers.push(worker);
    return worker;
  });
  t.after(() => Promise.all(workers.map((worker) => worker.terminate())));
  await assert.rejects(caller.service.shop.price(), { code: 'unreachable' });
  assert.equal(await caller.service.shop.price(), 7);
  assert.equal(workers.length, 2);
});

test('a closed caller rejects as aborted', async (t) => {
  const caller = connect(t, { retryAfter });
  const waiting = caller.service.retryAfter.wait({ signal: new AbortController().signal });
  caller.dispose();
  await assert.rejects(waiting, isAbort);
  await assert.rejects(caller.service.retryAfter.wait({ signal: AbortSignal.timeout(1) }), isAbort);
});

test('an error survives as data, whatever was thrown', () => {
  const copy = (error: unknown): Error => decodeError(structuredClone(encodeError(error)));
  const cause = new TypeError('inner');
  const error = Object.assign(new RangeError('outer', { cause }), { code: 'EX', count: 2, isFinal: true, list: [1] });
  const decoded = copy(error);
  assert.deepEqual([decoded.name, decoded.message, decoded.stack], ['RangeError', 'outer', error.stack]);
  assert.deepEqual(Object.fromEntries(Object.entries(decoded)), {
    name: 'RangeError',
    code: 'EX',
    count: 2,
    isFinal: true,
  });
  assert.ok(decoded.cause instanceof Error);
  assert.deepEqual([decoded.cause.name, decoded.cause.message, decoded.cause.cause], ['TypeError', 'inner', undefined]);
  assert.deepEqual([copy('text').name, copy('text').message, 'cause' in copy('text')], ['Error', 'text', false]);
  assert.equal(copy(undefined).message, 'undefined');
  assert.equal((copy(new Error('a', { cause: 'text' })).cause as Error).message, 'text');
  const unknownCode = Object.assign(new Error('x'), { name: 'AppError', code: 'no such code' });
  assert.deepEqual([copy(unknownCode) instanceof AppError, copy(unknownCode).name], [false, 'AppError']);
  assert.equal(copy(Object.assign(new Error('x'), { code: 'limit' })) instanceof AppError, false);
  assert.equal(copy(new AppError('limit', 'x')) instanceof AppError, true);
});

/** A caller whose channel is the other end of `endpoint`, with a count of how often it was opened. */
function callerOf<S extends Readonly<Record<string, object>>>(
  t: TestContext,
  service: LoadableService<S>,
  options: RemoteCallerOptions = {},
) {
  const state = { opened: 0, lose: (_error: Error): void => {} };
  const ports = new Set<MessagePort>();
  const caller = new RemoteCaller<S>((onLost) => {
    const { port1, port2 } = new MessageChannel();
    for (const port of [port1, port2]) ports.add(port);
    serveCalls(port2, service);
    state.opened += 1;
    state.lose = onLost;
    return port1;
  }, options);
  t.after(() => {
    caller.dispose();
    for (const port of ports) port.close();
  });
  return { caller, state };
}

test('a channel is opened by the first call, and again after it was closed or lost', async (t) => {
  const { caller, state } = callerOf(t, { echo: { back: (value: number) => value } });
  assert.equal(state.opened, 0);
  const { echo } = caller.service;
  assert.deepEqual([await echo.back(1), await echo.back(2), state.opened], [1, 2, 1]);
  caller.close();
  const loseFirst = state.lose;
  assert.deepEqual([await echo.back(3), state.opened], [3, 2]);
  const waiting = echo.back(4);
  loseFirst(new Error('the channel before'));
  assert.equal(await waiting, 4, 'the loss of an earlier channel is of no concern');
  const lost = echo.back(5);
  state.lose(new Error('gone'));
  await assert.rejects(lost, /^Error: gone$/);
  assert.deepEqual([await echo.back(6), state.opened], [6, 3]);
});

test('a call is work in progress until its result, unless it is a subscription', async (t) => {
  const pending = Promise.withResolvers<string>();
  const work = {
    wait: () => pending.promise,
    watch: () => pending.promise,
    poll: () => 'polled',
  };
  const { caller } = callerOf(t, { work }, { passive: ['poll'], subscriptions: ['watch'] });
  assert.deepEqual([caller.isBusy, caller.usedAt], [false, 0]);
  const watching = caller.service.work.watch();
  const openedAt = caller.usedAt;
  assert.ok(openedAt > 0 && openedAt <= performance.now());
  assert.equal(caller.isBusy, false);
  assert.equal(await caller.service.work.poll(), 'polled');
  assert.equal(caller.usedAt, openedAt);
  const waiting = caller.service.work.wait();
  assert.ok(caller.usedAt > openedAt);
  assert.equal(caller.isBusy, true);
  pending.resolve('done');
  assert.deepEqual([await watching, await waiting, caller.isBusy], ['done', 'done', false]);
});

test('callbacks and signals may be arguments themselves, and each keeps its place', async (t) => {
  const work = {
    both: (first: (text: string) => void, options: { onText: (text: string) => void; plain: number }, last: string) => {
      first('first');
      options.onText(`second ${options.plain}`);
      return last;
    },
    reasonOf: (signal: AbortSignal) =>
      new Promise<unknown>((resolve) =>
        signal.addEventListener('abort', () => {
          const { name, message, code } = signal.reason as AppError;
          resolve([name, message, code]);
        }),
      ),
  };
  const { caller } = callerOf(t, { work });
  const seen: string[] = [];
  const note = (text: string): void => void seen.push(text);
  assert.equal(await caller.service.work.both(note, { onText: note, plain: 7 }, 'last'), 'last');
  assert.deepEqual(seen, ['first', 'second 7']);
  const stop = new AbortController();
  const reason = caller.service.work.reasonOf(stop.signal);
  stop.abort(new AppError('limit', 'Too much.'));
  assert.deepEqual(await reason, ['AppError', 'Too much.', 'limit']);
});

test('only own groups can be called, and a group that cannot be loaded is an error each time', async (t) => {
  const service = { broken: async () => Promise.reject(new Error('cannot load')) };
  const { caller } = callerOf<{ broken: { run(): void }; toString: { call(): void } }>(
    t,
    service as unknown as LoadableService<{ broken: { run(): void }; toString: { call(): void } }>,
  );
  for (let count = 0; count < 2; count += 1) await assert.rejects(caller.service.broken.run(), /cannot load/);
  await assert.rejects(caller.service.toString.call(), /^Error: toString\.call does not exist\.$/);
});

test('a channel that cannot be opened rejects the call, and a closed caller says that its worker was closed', async () => {
  const caller = new RemoteCaller<{ a: { b(): void } }>(() => {
    throw new Error('no worker');
  });
  await assert.rejects(caller.service.a.b(), /^Error: no worker$/);
  assert.equal(caller.isBusy, false);
  caller.dispose();
  await assert.rejects(caller.service.a.b(), { name: 'AbortError', message: 'The worker was closed.' });
});

test('a server that is disposed answers nothing more', async (t) => {
  const { port1, port2 } = new MessageChannel();
  t.after(() => port1.close());
  let calls = 0;
  const server = serveCalls(port2, { a: { b: () => (calls += 1) } });
  const caller = new RemoteCaller<{ a: { b(): number } }>(() => port1);
  assert.equal(await caller.service.a.b(), 1);
  server.dispose();
  const unanswered = caller.service.a.b();
  await new Promise((resolve) => setImmediate(resolve));
  caller.close();
  await assert.rejects(unanswered, { name: 'AbortError', message: 'The worker was closed.' });
  assert.equal(calls, 1);
});
