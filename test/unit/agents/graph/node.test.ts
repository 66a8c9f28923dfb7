import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { test } from 'node:test';
import {
  AppError,
  BatchFlow,
  BatchNode,
  Flow,
  LLMClient,
  ParallelBatchFlow,
  ParallelFlow,
  pause,
  type ExecContext,
  Node,
  type NodeOptions,
  ParallelBatchNode,
} from '../../../../src/agents/index.ts';
import { GUARD_MS } from '../../timeLimits.ts';

interface Shared {
  result?: unknown;
}

/** Fails the given number of times, then gives the attempt that succeeded. */
class Flaky extends Node<Shared, string, string> {
  readonly times: number[] = [];
  readonly #failures: number;
  readonly #isAsync: boolean;

  constructor(failures: number, options: NodeOptions & { isAsync?: boolean } = {}) {
    super(options);
    this.#failures = failures;
    this.#isAsync = options.isAsync ?? false;
  }

  override exec(): string | Promise<string> {
    this.times.push(performance.now());
    const attempt = this.times.length;
    const fails = attempt <= this.#failures;
    if (this.#isAsync)
      return fails ? Promise.reject(new Error(`failure ${attempt}`)) : Promise.resolve(`ok ${attempt}`);
    if (fails) throw new Error(`failure ${attempt}`);
    return `ok ${attempt}`;
  }

  override post(shared: Shared, _prepRes: string, result: string): void {
    shared.result = result;
  }
}

class WithFallback extends Flaky {
  override execFallback(_prepRes: string, error: unknown): string {
    return `fallback after ${(error as Error).message}`;
  }
}

for (const isAsync of [false, true]) {
  const kind = isAsync ? 'async' : 'sync';

  test(`${kind} exec that succeeds is called once and never reaches the fallback`, async () => {
    const node = new WithFallback(0, { maxRetries: 3, isAsync });
    const shared: Shared = {};
    await node.run(shared);
    assert.equal(shared.result, 'ok 1');
    assert.equal(node.times.length, 1);
  });

  test(`${kind} exec is tried up to maxRetries times`, async () => {
    const node = new Flaky(2, { maxRetries: 3, isAsync });
    const shared: Shared = {};
    await node.run(shared);
    assert.equal(shared.result, 'ok 3');
  });

  test(`${kind} exec that fails every attempt rejects with the last error by default`, async () => {
    const node = new Flaky(9, { maxRetries: 3, isAsync });
    await assert.rejects(node.run({}), /^Error: failure 3$/);
    assert.equal(node.times.length, 3);
  });

  test(`${kind} exec falls back with the last error after the last attempt, and the value becomes the result`, async () => {
    const shared: Shared = {};
    await new WithFallback(9, { maxRetries: 2, isAsync }).run(shared);
    assert.equal(shared.result, 'fallback after failure 2');
  });

  test(`${kind} exec with maxRetries 1, the default, falls back after one attempt`, async () => {
    const node = new WithFallback(9, { isAsync });
    assert.equal(node.maxRetries, 1);
    assert.equal(node.wait, 0);
    const shared: Shared = {};
    await node.run(shared);
    assert.equal(shared.result, 'fallback after failure 1');
  });
}

test('wait is in seconds, between attempts and not after the last', { timeout: GUARD_MS }, async () => {
  const node = new Flaky(9, { maxRetries: 3, wait: 0.05 });
  await assert.rejects(node.run({}));
  const [first = 0, second = 0, third = 0] = node.times;
  assert.ok(second - first >= 45 && third - second >= 45, node.times.join());
  await assert.rejects(new Flaky(9, { maxRetries: 1, wait: 3600 }).run({})); // the test's own limit would end a wait
});

test('a missing key is not retried, because it is still missing a moment later', async () => {
  let calls = 0;
  class Keyless extends Node<Shared, unknown, string> {
    override exec(): string {
      calls += 1;
      throw new AppError('not-signed-in', 'openai needs an API key.');
    }
  }
  await assert.rejects(new Keyless({ maxRetries: 3, wait: 3600 }).run({}), /needs an API key/);
  assert.equal(calls, 1);
});

test('maxRetries that is below 1 or no whole number is a RangeError that names the node', () => {
  for (const maxRetries of [0, -1, 1.5, Number.NaN, '3' as unknown as number]) {
    assert.throws(() => new Flaky(0, { maxRetries, name: 'fetch' }), { name: 'RangeError', message: /"fetch"/ });
  }
});

test('times that are not seconds are a RangeError', () => {
  assert.throws(() => new Flaky(0, { wait: -1 }), RangeError);
  assert.throws(() => new Flaky(0, { wait: Number.NaN }), RangeError);
  assert.throws(() => new Flaky(0, { timeout: 0 }), RangeError);
});

test('exec learns its attempt from 1 on', async () => {
  const attempts: number[] = [];
  class Asking extends Node<Shared> {
    override exec(_input: unknown, { attempt }: ExecContext): void {
      attempts.push(attempt);
      if (attempt < 3) throw new Error('again');
    }
  }
  await new Asking({ maxRetries: 5 }).run({});
  assert.deepEqual(attempts, [1, 2, 3]);
});

test('prep and post are not retried', async () => {
  let preps = 0;
  class Failing extends Node<Shared> {
    override prep(): void {
      preps += 1;
      throw new Error('prep');
    }
  }
  await assert.rejects(new Failing({ maxRetries: 3 }).run({}), /prep/);
  assert.equal(preps, 1);
});

test('an attempt over its timeout fails, aborts its signal and is retried', async () => {
  const signals: AbortSignal[] = [];
  class Slow extends Node<Shared, unknown, string> {
    override async exec(_input: unknown, { signal, attempt }: ExecContext): Promise<string> {
      signals.push(signal);
      if (attempt === 1) await sleep(60_000, undefined, { signal });
      return `attempt ${attempt}`;
    }
    override post(shared: Shared, _prepRes: unknown, result: string): void {
      shared.result = result;
    }
  }
  const shared: Shared = {};
  await new Slow({ timeout: 0.02, maxRetries: 2 }).run(shared);
  assert.equal(shared.result, 'attempt 2');
  assert.deepEqual(
    signals.map(({ aborted }) => aborted),
    [true, false],
  );
});

test('a timeout names the node and the seconds, even when exec ignores the signal', async () => {
  class Deaf extends Node<Shared> {
    override async exec(): Promise<void> {
      await Promise.withResolvers<void>().promise;
    }
  }
  await assert.rejects(new Deaf({ timeout: 0.01, name: 'deaf' }).run({}), /"deaf".*0\.01 s/);
});

test('an abort rejects with the reason of the signal at once, without retry or fallback', async () => {
  const reason = new Error('the person pressed stop');
  const controller = new AbortController();
  const calls: string[] = [];
  class Hanging extends Node<Shared> {
    override async exec(_input: unknown, { signal }: ExecContext): Promise<void> {
      calls.push('exec');
      setTimeout(() => controller.abort(reason), 5);
      await sleep(60_000, undefined, { signal });
    }
    override execFallback(): void {
      calls.push('fallback');
    }
    override post(): void {
      calls.push('post');
    }
  }
  await assert.rejects(
    new Hanging({ maxRetries: 5 }).run({}, { signal: controller.signal }),
    (error) => error === reason,
  );
  await sleep(5);
  assert.deepEqual(calls, ['exec']);
});

for (const isTraced of [false, true]) {
  const options = isTraced ? { onEvent: () => {} } : {};

  test(`an abort does not wait for an exec that ignores it, and post is not called afterwards (${isTraced ? 'traced' : 'untraced'})`, async () => {
    const controller = new AbortController();
    const hanging = Promise.withResolvers<void>();
    let posted = false;
    class Deaf extends Node<Shared> {
      override exec(): Promise<void> {
        controller.abort(new Error('stop'));
        return hanging.promise;
      }
      override post(): void {
        posted = true;
      }
    }
    await assert.rejects(new Deaf().run({}, { ...options, signal: controller.signal }), /stop/);
    hanging.resolve();
    await sleep(1);
    assert.equal(posted, false);
  });
}

test('a sync hook that aborts the run is its last', async () => {
  const controller = new AbortController();
  const calls: string[] = [];
  class Stopping extends Node<Shared> {
    override prep(): void {
      calls.push('prep');
      controller.abort(new Error('stop'));
    }
    override exec(): void {
      calls.push('exec');
    }
  }
  await assert.rejects(new Stopping().run({}, { signal: controller.signal }), /stop/);
  assert.deepEqual(calls, ['prep']);
});

test('an abort ends the wait between attempts', async () => {
  const node = new WithFallback(9, { maxRetries: 2, wait: 60 });
  const reason = new Error('stop');
  const controller = new AbortController();
  setTimeout(() => controller.abort(reason), 10);
  await assert.rejects(node.run({}, { signal: controller.signal }), (error) => error === reason);
  assert.equal(node.times.length, 1);
});

test('a signal that is aborted already rejects before any hook', async () => {
  let prepared = false;
  class Noting extends Node<Shared> {
    override prep(): void {
      prepared = true;
    }
  }
  await assert.rejects(new Noting().run({}, { signal: AbortSignal.abort(new Error('early')) }), /early/);
  assert.equal(prepared, false);
});

const BATCHES: readonly (typeof BatchNode)[] = [BatchNode, ParallelBatchNode];
for (const Batch of BATCHES) {
  class Doubling extends Batch<Shared, number, number> {
    override prep(shared: Shared): number[] {
      return shared.result as number[];
    }
    override exec(item: number): number | Promise<number> {
      return item % 2 === 0 ? item * 2 : Promise.resolve(item * 2);
    }
    override post(shared: Shared, items: readonly number[], results: number[]): string {
      shared.result = results;
      return `${items.length}`;
    }
  }

  test(`${Batch.name} calls exec once per item and keeps the order`, async () => {
    for (const items of [[], [7], Array.from({ length: 100 }, (_, index) => index)]) {
      const shared: Shared = { result: items };
      assert.equal(await new Doubling().run(shared), `${items.length}`);
      assert.deepEqual(
        shared.result,
        items.map((item) => item * 2),
      );
    }
  });

  test(`${Batch.name} refuses a prep that gives no array, by name`, async () => {
    await assert.rejects(new Doubling({ name: 'double' }).run({ result: undefined }), /"double" must return an array/);
  });

  test(`${Batch.name} counts the attempts of each item apart`, async () => {
    const attempts = new Map<number, number>();
    class Unlucky extends Batch<Shared, number, number> {
      override prep(): number[] {
        return [0, 1, 2, 3];
      }
      override async exec(item: number): Promise<number> {
        const attempt = (attempts.get(item) ?? 0) + 1;
        attempts.set(item, attempt);
        await sleep(1);
        throw new Error(`item ${item}, attempt ${attempt}`);
      }
      override execFallback(item: number, error: unknown): number {
        assert.equal((error as Error).message, `item ${item}, attempt 3`);
        return -item;
      }
      override post(shared: Shared, _items: readonly number[], results: number[]): void {
        shared.result = results;
      }
    }
    const shared: Shared = {};
    await new Unlucky({ maxRetries: 3 }).run(shared);
    assert.deepEqual([...attempts.values()], [3, 3, 3, 3]);
    assert.deepEqual(shared.result, [-0, -1, -2, -3]);
  });
}

test('ParallelBatchNode runs up to `concurrency` items at a time', async () => {
  let running = 0;
  let most = 0;
  class Counting extends ParallelBatchNode<Shared, number, void> {
    override prep(): number[] {
      return Array.from({ length: 20 }, (_, index) => index);
    }
    override async exec(): Promise<void> {
      most = Math.max(most, ++running);
      await sleep(2);
      running -= 1;
    }
  }
  await new Counting({ concurrency: 4 }).run({});
  assert.equal(most, 4);
  for (const concurrency of [0, 1.5, -1]) assert.throws(() => new Counting({ concurrency }), RangeError);
});

test('ParallelBatchNode begins no further item and aborts the others when one fails for good', async () => {
  const begun: number[] = [];
  const aborted: number[] = [];
  class Failing extends ParallelBatchNode<Shared, number, void> {
    override prep(): number[] {
      return Array.from({ length: 10 }, (_, index) => index);
    }
    override async exec(item: number, { signal }: ExecContext): Promise<void> {
      begun.push(item);
      signal.addEventListener('abort', () => aborted.push(item));
      await sleep(item === 1 ? 2 : 30);
      if (item === 1) throw new Error('item 1 is broken');
    }
  }
  await assert.rejects(new Failing({ concurrency: 3 }).run({}), /item 1 is broken/);
  await sleep(50);
  assert.deepEqual(begun, [0, 1, 2]);
  assert.deepEqual(aborted, [0, 1, 2]);
});

test('options of a node that have another type are a TypeError that names the option', () => {
  class Named extends Node {
    constructor(...args: unknown[]) {
      super(...(args as []));
    }
  }
  assert.throws(() => new Named(3, 0.01), {
    name: 'TypeError',
    message: /new Named takes its options as an object, not the number 3/,
  });
  assert.throws(() => new Named({ wait: '1' }), {
    name: 'TypeError',
    message: /option wait of new Named must be a number/,
  });
  assert.throws(() => new Named({ name: 7 }), { name: 'TypeError', message: /option name/ });
});

test('an option that is unknown is a TypeError that names it, and the right one if it is misspelt', async () => {
  // As a program in JavaScript may write it.
  const wrong = (options: object): object => options;
  const cases: readonly [object, string, string][] = [
    [{ maxRetry: 3 }, 'maxRetry', 'maxRetries'],
    [{ max_retries: 3 }, 'max_retries', 'maxRetries'],
    [{ timeOut: 3 }, 'timeOut', 'timeout'],
  ];
  for (const [options, written, right] of cases) {
    assert.throws(() => new Node(wrong(options)), {
      name: 'TypeError',
      message: `new Node has no option ${written}. Did you mean ${right}?`,
    });
  }
  await assert.rejects(new Node({ name: 'A' }).run({}, wrong({ maxVisit: 3 })), {
    name: 'TypeError',
    message: 'run of "A" has no option maxVisit. Did you mean maxVisits?',
  });
  class Own extends Node {}
  class Extended extends Node {
    readonly date: unknown;

    constructor(options: NodeOptions & { readonly date?: number }) {
      super(options);
      this.date = options.date;
    }
  }
  assert.equal(new Extended({ date: 1 }).date, 1); // a subclass with a constructor has options of its own
  assert.throws(() => new Extended(wrong({ date: 1, maxRetry: 2 })), /Did you mean maxRetries\?/);
  assert.equal(new Own(wrong({ maxRetries: 2, maxRetry: undefined, own: undefined })).maxRetries, 2);
  const node = new Node();
  class Join extends ParallelFlow {
    override merge(): void {}
  }
  const unknown: readonly [string, () => unknown, string][] = [
    ['new Own', () => new Own(wrong({ retries: 3 })), 'maxRetries, wait, timeout, name'],
    ['new Node', () => new Node(wrong({ concurrency: 3 })), 'maxRetries, wait, timeout, name'],
    [
      'new ParallelBatchNode',
      () => new ParallelBatchNode(wrong({ limit: 3 })),
      'maxRetries, wait, timeout, name, concurrency',
    ],
    ['new Flow', () => new Flow(wrong({ nodes: 3 })), 'start, name'],
    ['new BatchFlow', () => new BatchFlow({ ...wrong({ items: 3 }) }), 'start, name'],
    ['new ParallelBatchFlow', () => new ParallelBatchFlow(wrong({ lanes: 3 })), 'start, name, concurrency'],
    ['new Join', () => new Join({ branches: { node }, ...wrong({ start: node }) }), 'branches, concurrency, name'],
    ['new LLMClient', () => new LLMClient(wrong({ headers: {} })), ''],
    ['pause', () => pause({ question: 'Really?', ...wrong({ answer: 'yes' }) }), 'question, choices, input'],
  ];
  for (const [call, make, options] of unknown) {
    assert.throws(
      make,
      (error: Error) =>
        error.name === 'TypeError' &&
        error.message.startsWith(`${call} has no option `) &&
        error.message.includes(`Its options: ${options}`),
      call,
    );
  }
  await assert.rejects(
    node.run({}, wrong({ recursionLimit: 3 })),
    /run of "Node" has no option recursionLimit\. Its options: signal, /,
  );
});

test('a value that cannot be converted to text is thrown as it is, in a traced run too', async () => {
  const hostile = new Proxy(
    {},
    {
      get() {
        throw new Error('not readable');
      },
    },
  );
  for (const thrown of [Object.create(null) as unknown, hostile]) {
    for (const maxRetries of [1, 2]) {
      class Failing extends Node {
        override exec(): never {
          throw thrown;
        }
      }
      const messages: string[] = [];
      let caught: unknown;
      try {
        await new Failing({ maxRetries }).run(
          {},
          {
            onEvent: (event) => void (event.type === 'error' && messages.push(event.message)),
          },
        );
      } catch (error) {
        caught = error;
      }
      assert.ok(caught === thrown);
      assert.deepEqual(messages, ['(a value that cannot be converted to text)']);
    }
  }
});

test('a thrown object that is no Error is reported with what it contains', async () => {
  const thrown: unknown = { code: 7, message: 'no harbour' };
  class Failing extends Node {
    override exec(): never {
      throw thrown;
    }
  }
  const messages: string[] = [];
  const run = new Failing().run(
    {},
    {
      onEvent: (event) => void (event.type === 'error' && messages.push(event.message)),
    },
  );
  await assert.rejects(run, (error) => error === thrown);
  assert.deepEqual(messages, ['{"code":7,"message":"no harbour"}']);
});
