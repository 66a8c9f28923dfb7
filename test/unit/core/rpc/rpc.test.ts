import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { test, type TestContext } from 'node:test';
import { MessageChannel, Worker } from 'node:worker_threads';
import { AppError, isAbort } from '../../../../src/core/errors.ts';
import { type LoadableService, serveCalls } from '../../../../src/core/rpc/serveCalls.ts';
import { RemoteCaller } from '../../../../src/core/rpc/remoteCaller.ts';

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
