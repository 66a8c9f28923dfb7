import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  AppError,
  BaseNode,
  BatchFlow,
  Flow,
  Node,
  ParallelBatchFlow,
  ParallelBatchNode,
  type TraceEvent,
} from '../../../../src/agents/index.ts';
import { GUARD_MS } from '../../timeLimits.ts';

interface Shared {
  steps: string[];
  count: number;
}

const fresh = (): Shared => ({ steps: [], count: 0 });

/** A node that notes its name and returns the given actions, one per visit. */
class Step extends Node<Shared> {
  readonly #actions: unknown[];

  constructor(name: string, ...actions: unknown[]) {
    super({ name });
    this.#actions = actions;
  }

  override post(shared: Shared): string {
    shared.steps.push(this.name);
    return this.#actions[Math.min(shared.count++, this.#actions.length - 1)] as string;
  }
}

async function run(flow: Flow<Shared>): Promise<{ shared: Shared; action: unknown; warnings: TraceEvent[] }> {
  const shared = fresh();
  const warnings: TraceEvent[] = [];
  const action: unknown = await flow.run(shared, {
    onEvent: (event) => {
      if (event.type === 'warning') warnings.push(event);
    },
  });
  return { shared, action, warnings };
}

test('adding a node to a flow takes the same time however many nodes it has', () => {
  let reads = 0;
  const counted = (name: string): Step => Object.defineProperty(new Step(name), 'name', { get: () => (reads++, name) });
  const steps = Array.from({ length: 1_000 }, (_, index) => counted(index % 2 === 0 ? 'same' : `step ${index}`));
  const flow = new Flow<Shared>();
  for (const [index, step] of steps.entries()) flow.connect(step, steps[index + 1] ?? null, 'next');
  assert.ok(reads <= 10 * steps.length, `${reads} reads of ${steps.length} names`);
});

test('a node passes what prep returned to exec, and both to post', async () => {
  class Sum extends Node<{ numbers: number[]; sum: number }, number[], number> {
    override prep(shared: { numbers: number[] }): number[] {
      return shared.numbers;
    }
    override async exec(numbers: number[]): Promise<number> {
      return numbers.reduce((sum, number) => sum + number, 0);
    }
    override post(shared: { sum: number }, numbers: number[], sum: number): string {
      shared.sum = sum;
      return numbers.length > 2 ? 'many' : 'few';
    }
  }
  const shared = { numbers: [1, 2, 3], sum: 0 };
  assert.equal(await new Sum().run(shared), 'many');
  assert.equal(shared.sum, 6);
});

test('a BaseNode has the lifecycle without retries', async () => {
  class Plain extends BaseNode<Shared> {
    override exec(): string {
      return 'result';
    }
    override post(shared: Shared, _prepRes: unknown, result: unknown): string {
      shared.steps.push(String(result));
      return 'end';
    }
  }
  const shared = fresh();
  assert.equal(await new Plain().run(shared), 'end');
  assert.deepEqual(shared.steps, ['result']);
});

test('sync hooks run without a turn of the event loop between them', async () => {
  const order: string[] = [];
  class Sync extends Node<Shared> {
    override prep(): void {
      order.push('prep');
      queueMicrotask(() => order.push('microtask'));
    }
    override exec(): void {
      order.push('exec');
    }
    override post(): string {
      order.push('post');
      return 'end';
    }
  }
  await new Sync().run(fresh());
  assert.deepEqual(order, ['prep', 'exec', 'post', 'microtask']);
});

test('a flow follows the action that post returned', async () => {
  const [a, b, c] = [new Step('a', 'right'), new Step('b', 'end'), new Step('c', 'end')];
  const flow = new Flow<Shared>({ start: a }).connect(a, b, 'left').connect(a, c, 'right').connect(c, null, 'end');
  const { shared, action, warnings } = await run(flow);
  assert.deepEqual(shared.steps, ['a', 'c']);
  assert.equal(action, 'end');
  assert.deepEqual(warnings, []);
});

test('undefined, null and the empty string count as the action "default"', async () => {
  for (const action of [undefined, null, '', 'default']) {
    const [a, b] = [new Step('a', action), new Step('b', 'end')];
    const flow = new Flow<Shared>({ start: a }).connect(a, b).connect(b, null, 'end');
    assert.deepEqual((await run(flow)).shared.steps, ['a', 'b'], String(action));
  }
});

test('a node may loop back to itself until it returns another action', async () => {
  const a = new Step('a', 'again', 'again', 'done');
  const flow = new Flow<Shared>({ start: a }).connect(a, a, 'again').connect(a, null, 'done');
  assert.deepEqual((await run(flow)).shared.steps, ['a', 'a', 'a']);
});

test('a connection to null ends the flow without a warning', async () => {
  const a = new Step('a', 'stop');
  const { action, warnings } = await run(new Flow<Shared>({ start: a }).connect(a, null, 'stop'));
  assert.equal(action, 'stop');
  assert.deepEqual(warnings, []);
});

test('an action without a connection ends the flow with a warning that names node, action and what is connected', async () => {
  const [a, b] = [new Step('a', 'typo'), new Step('b')];
  const { action, warnings } = await run(new Flow<Shared>({ start: a, name: 'main' }).connect(a, b, 'next'));
  assert.equal(action, 'typo');
  const [warning] = warnings;
  assert.ok(warning?.type === 'warning');
  assert.equal(warning.node, 'a');
  assert.equal(warning.action, 'typo');
  assert.match(warning.message, /"a" in main.*"typo".*connected: "next"/);
});

test('a last node without any connection warns too: only null ends a flow silently', async () => {
  const { warnings } = await run(new Flow<Shared>({ start: new Step('only') }));
  assert.equal(warnings.length, 1);
});

test('warnings go to console.warn when no onEvent is given', async (t) => {
  const warn = t.mock.method(console, 'warn', () => {});
  await new Flow<Shared>({ start: new Step('only', 'gone') }).run(fresh());
  assert.equal(warn.mock.callCount(), 1);
  assert.match(String(warn.mock.calls[0]?.arguments[0]), /"only".*"gone"/);
});

test('connecting a pair again replaces the connection and warns', async (t) => {
  const warn = t.mock.method(console, 'warn', () => {});
  const [a, b, c] = [new Step('a', 'go'), new Step('b', 'end'), new Step('c', 'end')];
  const flow = new Flow<Shared>({ start: a }).connect(a, b, 'go').connect(a, c, 'go').connect(c, null, 'end');
  assert.equal(warn.mock.callCount(), 1);
  assert.match(String(warn.mock.calls[0]?.arguments[0]), /"go".*"b".*"c"/);
  assert.deepEqual((await run(flow)).shared.steps, ['a', 'c']);
});

test('one node may have different successors in two flows', async () => {
  const [a, b, c] = [new Step('a', 'go'), new Step('b', 'go'), new Step('c', 'go')];
  const first = new Flow<Shared>({ start: a }).connect(a, b, 'go').connect(b, null, 'go');
  const second = new Flow<Shared>({ start: a }).connect(a, c, 'go').connect(c, null, 'go');
  assert.deepEqual((await run(first)).shared.steps, ['a', 'b']);
  assert.deepEqual((await run(second)).shared.steps, ['a', 'c']);
});

test('getNextNode distinguishes a connection, an explicit end and a missing connection', () => {
  const [a, b] = [new Step('a'), new Step('b')];
  const flow = new Flow<Shared>({ start: a }).connect(a, b).connect(b, null, 'end');
  assert.equal(flow.getNextNode(a, 'default'), b);
  assert.equal(flow.getNextNode(a), b);
  assert.equal(flow.getNextNode(b, 'end'), null);
  assert.equal(flow.getNextNode(b, 'other'), undefined);
  assert.equal(flow.getNextNode(new Step('stranger'), 'default'), undefined);
});

test('the start may be set after construction', async () => {
  const flow = new Flow<Shared>();
  assert.equal(flow.start, undefined);
  const a = new Step('a', 'end');
  flow.start = a;
  flow.connect(a, null, 'end');
  assert.equal(flow.start, a);
  assert.equal((await run(flow)).action, 'end');
});

test('a nested flow is left by the action of its last node', async () => {
  const [inner, no, yes] = [new Step('inner', 'yes'), new Step('no', 'end'), new Step('yes', 'end')];
  const nested = new Flow<Shared>({ start: inner, name: 'nested' }).connect(inner, null, 'yes');
  const flow = new Flow<Shared>({ start: nested })
    .connect(nested, no)
    .connect(nested, yes, 'yes')
    .connect(yes, null, 'end');
  assert.deepEqual((await run(flow)).shared.steps, ['inner', 'yes']);
});

test('Flow.post returns the last action unchanged, and a subclass may override it', async () => {
  class Renaming extends Flow<Shared> {
    override post(shared: Shared, _prepRes: unknown, action: string | void): string {
      shared.steps.push('post');
      return `was ${String(action)}`;
    }
  }
  const a = new Step('a', 'end');
  const shared = fresh();
  assert.equal(await new Renaming({ start: a }).connect(a, null, 'end').run(shared), 'was end');
  assert.deepEqual(shared.steps, ['a', 'post']);
});

test('nodes are not copied, so a node with arrow function members keeps its own state', async () => {
  class Counting extends Node<Shared> {
    visits = 0;
    override post = (): string => (++this.visits < 3 ? 'again' : 'done');
  }
  const node = new Counting();
  const flow = new Flow<Shared>({ start: node }).connect(node, node, 'again').connect(node, null, 'done');
  await flow.run(fresh());
  assert.equal(node.visits, 3);
});

test('one flow runs many times at once, each run with its own position and shared state', async () => {
  class Wait extends Node<Shared, number, number> {
    override prep(shared: Shared): number {
      return shared.count;
    }
    override async exec(count: number): Promise<number> {
      await new Promise((resolve) => setTimeout(resolve, count % 3));
      return count + 1;
    }
    override post(shared: Shared, _before: number, count: number): 'again' | 'done' {
      shared.count = count;
      return count < 5 ? 'again' : 'done';
    }
  }
  const node = new Wait();
  const flow = new Flow<Shared>({ start: node }).connect(node, node, 'again').connect(node, null, 'done');
  const states = Array.from({ length: 20 }, fresh);
  await Promise.all(states.map((shared) => flow.run(shared)));
  assert.deepEqual([...new Set(states.map(({ count }) => count))], [5]);
});

test('a run without a start rejects and names the flow', async () => {
  await assert.rejects(new Flow<Shared>({ name: 'empty' }).run(fresh()), (error) => {
    assert.ok(error instanceof AppError);
    return /"empty" has no start/.test(error.message);
  });
});

test('what is not a node is refused where it is given, by name', () => {
  const stranger = { post: () => 'x' } as unknown as Node<Shared>;
  const a = new Step('a');
  const flow = new Flow<Shared>({ name: 'main' });
  assert.throws(() => flow.connect(stranger, a), /source of a connection in "main".*object/);
  assert.throws(
    () => flow.connect(a, undefined as unknown as null),
    /destination of a connection in "main".*undefined/,
  );
  assert.throws(() => (flow.start = stranger), /start in "main"/);
  assert.throws(() => flow.connect(a, a, 7 as unknown as string), /action of type number/);
});

test('options of a flow that have another type are a TypeError that names the option', () => {
  const wrong = (options: unknown): never => options as never;
  for (const [options, message] of [
    [new Step('a'), 'A flow takes its first node as an option: new Flow({ start: node }).'],
    [5, 'new Flow takes its options as an object, not the number 5: { start: … }.'],
    [{ start: 5 }, 'The option start of new Flow must be a Node or a Flow, not the number 5.'],
    [{ start: { post: () => 'x' } }, 'The option start of new Flow must be a Node or a Flow, not an object.'],
    [{ start: null }, 'The option start of new Flow must be a Node or a Flow, not null.'],
    [{ name: 5 }, 'The option name of new Flow must be a string, not the number 5.'],
  ] as const) {
    assert.throws(() => new Flow(wrong(options)), { name: 'TypeError', message });
  }
  for (const Kind of [BatchFlow, ParallelBatchFlow]) {
    const message = `The option start of new ${Kind.name} must be a Node or a Flow, not the string "a".`;
    assert.throws(() => new Kind(wrong({ start: 'a' })), { name: 'TypeError', message });
    assert.throws(() => new Kind(wrong(new Step('a'))), { name: 'TypeError' });
  }
  for (const concurrency of ['3', null]) {
    const error = { name: 'TypeError', message: /option concurrency of new Parallel\w+ must be a number/ };
    assert.throws(() => new ParallelBatchFlow(wrong({ concurrency })), error);
    assert.throws(() => new ParallelBatchNode(wrong({ concurrency })), error);
  }
});

test('an action that is not a string is an error that names the node', async () => {
  const a = new Step('a', { not: 'a string' });
  await assert.rejects(new Flow<Shared>({ start: a, name: 'main' }).run(fresh()), /post of "a" in main.*type object/);
});

test('a flow that contains itself is an error that shows the path', async () => {
  const [outer, inner] = [new Flow<Shared>({ name: 'outer' }), new Flow<Shared>({ name: 'inner' })];
  outer.start = inner;
  inner.start = outer;
  await assert.rejects(outer.run(fresh()), /"outer" contains itself: outer\/inner\/outer/);
});

test('maxVisits ends an endless loop with the nodes that repeat', async () => {
  const [a, b] = [new Step('a', 'go'), new Step('b', 'go')];
  const flow = new Flow<Shared>({ start: a }).connect(a, b, 'go').connect(b, a, 'go');
  await assert.rejects(flow.run(fresh(), { maxVisits: 10 }), /limit of 10 visits.*a -> b -> a/);
});

test('maxVisits allows exactly that many visits, and must be a whole number above 0', async () => {
  const [a, b] = [new Step('a', 'go'), new Step('b', 'go')];
  const flow = new Flow<Shared>({ start: a }).connect(a, b, 'go').connect(b, null, 'go');
  assert.equal(await flow.run(fresh(), { maxVisits: 2 }), 'go');
  await assert.rejects(flow.run(fresh(), { maxVisits: 1 }), AppError);
  for (const maxVisits of [0, 1.5, -1, Number.NaN]) await assert.rejects(flow.run(fresh(), { maxVisits }), RangeError);
});

test('an error from any hook rejects the run unchanged', async () => {
  const failure = new TypeError('broken');
  for (const hook of ['prep', 'exec', 'post'] as const) {
    const node = new Node<Shared>();
    node[hook] = () => {
      throw failure;
    };
    await assert.rejects(new Flow<Shared>({ start: node }).run(fresh()), (error) => error === failure, hook);
  }
});

test('a long loop of sync nodes lets timers fire', async () => {
  let fired = false;
  setTimeout(() => (fired = true), 1);
  class Until extends Node<Shared> {
    override post(): 'again' | 'done' {
      return fired ? 'done' : 'again';
    }
  }
  const node = new Until();
  const flow = new Flow<Shared>({ start: node }).connect(node, node, 'again').connect(node, null, 'done');
  await flow.run(fresh(), { signal: AbortSignal.timeout(GUARD_MS) });
  assert.ok(fired);
});

test('flows may be nested 6,000 deep, and an error comes out of them', async (t) => {
  const warn = t.mock.method(console, 'warn', () => {});
  let inner = new Flow<Shared>({ start: new Step('deep', 'done') }); // not connected, so it warns with its path
  let failing = new Flow<Shared>({ start: new Step('wrong', 5) });
  for (let depth = 0; depth < 6_000; depth += 1) {
    inner = new Flow<Shared>({ start: inner }).connect(inner, null, 'done');
    failing = new Flow<Shared>({ start: failing });
  }
  const shared = fresh();
  assert.equal(await inner.run(shared), 'done');
  assert.deepEqual(shared.steps, ['deep']);
  assert.match(String(warn.mock.calls[0]?.arguments[0]), /^farwharf: "deep" in Flow\/Flow\/Flow\//);
  await assert.rejects(failing.run(fresh(), { onEvent: () => {} }), /returned a value of type number/);
});

test('flows may be nested 150,000 deep, and one that contains itself far below is refused', {
  timeout: GUARD_MS,
}, async () => {
  const bottom = new Flow<Shared>({ name: 'bottom' });
  const nested = (depth: number): Flow<Shared> => {
    let flow = bottom;
    for (let at = 0; at < depth; at += 1) flow = new Flow<Shared>({ start: flow }).connect(flow, null, 'done');
    return flow;
  };
  const last = new Step('last', 'done');
  bottom.start = last;
  bottom.connect(last, null, 'done');
  assert.equal(await nested(150_000).run(fresh()), 'done');
  const around = nested(1_000);
  bottom.start = around;
  await assert.rejects(around.run(fresh()), /contains itself: .*\/bottom\/Flow/);
});
