import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  AppError,
  BatchFlow,
  BudgetError,
  type Checkpoint,
  Flow,
  Node,
  ParallelBatchFlow,
  pause,
  PausedError,
  Recording,
  type TraceEvent,
} from '../../../../src/agents/index.ts';
import { rejection } from '../../rejection.ts';
import { GUARD_MS } from '../../timeLimits.ts';

interface Shared {
  words: string[];
  suffix: string;
  results?: string[];
}

interface Item extends Shared {
  item: string;
  result?: string;
}

class Upper extends Node<Item, string, string> {
  calls: string[] = [];
  override prep(state: Item): string {
    return state.item + state.suffix;
  }
  override async exec(word: string): Promise<string> {
    this.calls.push(word);
    if (word.startsWith('bad')) throw new TypeError('no such word');
    return word.toUpperCase();
  }
  override post(state: Item, _word: string, result: string): void {
    state.result = result;
  }
}

const FORMS: readonly (typeof BatchFlow)[] = [BatchFlow, ParallelBatchFlow];

function eachOf(Form: typeof BatchFlow, first: Node<Item>, last?: Node<Item>) {
  class Each extends Form<Shared, string, Item> {
    override prep(shared: Shared): string[] {
      return shared.words;
    }
    override post(shared: Shared, items: readonly string[], states: Item[]): string {
      shared.results = states.map(({ item, result }) => `${item}: ${result}`);
      return `${items.length} items`;
    }
  }
  const each = new Each({ start: first, name: 'each' });
  each.connect(first, last ?? null);
  return last === undefined ? each : each.connect(last, null);
}

for (const Form of FORMS) {
  test(`${Form.name} runs its graph once for each item with a state of its own, in the order of the items`, async () => {
    const upper = new Upper();
    const last = new Node<Item>({ name: 'last' });
    const flow = new Flow<Shared>({ start: eachOf(Form, upper, last), name: 'main' });
    const events: TraceEvent[] = [];
    const shared: Shared = { words: ['a', 'b', 'c'], suffix: '!' };
    const action = await flow.run(shared, { onEvent: (event) => events.push(event) });
    assert.equal(action, '3 items');
    assert.deepEqual(shared, {
      words: ['a', 'b', 'c'],
      suffix: '!',
      results: ['a: A!', 'b: B!', 'c: C!'],
    });
    const places = events.flatMap((event) => (event.type === 'node-start' ? [event.path] : []));
    assert.deepEqual(
      places.toSorted(),
      [0, 1, 2].flatMap((item) => [`main/each[${item}]/Upper`, `main/each[${item}]/last`]),
    );
  });

  test(`${Form.name} of no items runs nothing and calls post`, async () => {
    const upper = new Upper();
    const shared: Shared = { words: [], suffix: '' };
    assert.equal(await eachOf(Form, upper).run(shared), '0 items');
    assert.deepEqual(shared.results, []);
  });

  test(`${Form.name} names the failed item in the error and in the trace, and keeps the error as the cause`, async () => {
    const events: TraceEvent[] = [];
    const flow = new Flow<Shared>({ start: eachOf(Form, new Upper()), name: 'main' });
    const shared: Shared = { words: ['a', 'bad', 'c'], suffix: '' };
    const error = await rejection(flow.run(shared, { onEvent: (event) => events.push(event) }));
    assert.ok(error instanceof Error);
    assert.match(error.message, /^each\[1\] failed: no such word$/);
    assert.ok(error.cause instanceof TypeError);
    const failed = events.flatMap((event) => (event.type === 'error' ? [event.path] : []));
    assert.equal(failed[0], 'main/each[1]/Upper');
    assert.equal(shared.results, undefined);
  });

  test(`${Form.name} rejects a prep that returns no array, and a missing start, by its name`, async () => {
    const odd: Shared = { words: 'abc' as never, suffix: '' };
    await assert.rejects(eachOf(Form, new Upper()).run(odd), /prep of "each" must return an array/);
    const empty = new Form<Shared, string>({ name: 'empty' });
    empty.prep = () => ['a'];
    await assert.rejects(empty.run({ words: [], suffix: '' }), /The flow "empty" has no start/);
  });

  test(`${Form.name} replays each item from a recording`, async (t) => {
    const folder = await mkdtemp(join(tmpdir(), 'farwharf-each-'));
    t.after(() => rm(folder, { recursive: true }));
    const path = join(folder, 'run.jsonl');
    const upper = new Upper();
    const flow = new Flow<Shared>({ start: eachOf(Form, upper), name: 'main' });
    const record = await Recording.open(path);
    await flow.run({ words: ['a', 'b', 'a'], suffix: '' }, { record });
    await record.save();
    assert.equal(record.size, 3);
    upper.calls = [];
    const shared: Shared = { words: ['a', 'x', 'a'], suffix: '' };
    await flow.run(shared, { replay: await Recording.open(path) });
    assert.deepEqual(upper.calls, ['x']);
    assert.deepEqual(shared.results, ['a: A', 'x: X', 'a: A']);
  });

  test(`${Form.name} begins nothing more after an abort, and leaves no listener behind`, async () => {
    const controller = new AbortController();
    const begun: string[] = [];
    class Slow extends Node<Item, string> {
      override prep(state: Item): string {
        return state.item;
      }
      override async exec(word: string, { signal }: { signal: AbortSignal }): Promise<void> {
        begun.push(word);
        if (begun.length === 2) controller.abort(new Error('enough'));
        await sleep(60_000, undefined, { signal });
      }
    }
    const words = Array.from({ length: 50 }, (_, index) => String(index));
    class Quick extends Slow {
      override async exec(word: string, context: { signal: AbortSignal }): Promise<void> {
        if (word === '0') begun.push(word);
        else await super.exec(word, context);
      }
    }
    const run = eachOf(Form, Form === BatchFlow ? new Quick() : new Slow()).run(
      { words, suffix: '' },
      { signal: controller.signal },
    );
    await assert.rejects(run, /^Error: enough$/);
    await sleep(5);
    const most = Form === BatchFlow ? 2 : 16;
    assert.ok(begun.length <= most, `${begun.length} items began`);
  });

  test(`${Form.name} keeps a BudgetError as it is`, async () => {
    const run = eachOf(Form, new Upper(), new Node<Item>({ name: 'last' })).run(
      { words: ['a', 'b'], suffix: '' },
      { maxSeconds: 0 },
    );
    assert.ok((await rejection(run)) instanceof BudgetError);
  });
}

test('by default an item gets a copy of the shared state with the item, and the batch returns the default action', async () => {
  const seen: unknown[] = [];
  class See extends Node<Shared & { item: number }> {
    override post(state: Shared & { item: number }): void {
      seen.push({ ...state });
      state.suffix = 'changed';
    }
  }
  class Each extends BatchFlow<Shared, number> {
    override prep(): number[] {
      return [1, 2];
    }
  }
  const shared: Shared = { words: [], suffix: 's' };
  assert.equal(await new Each({ start: new See() }).run(shared, { onEvent: () => {} }), undefined);
  assert.deepEqual(seen, [
    { words: [], suffix: 's', item: 1 },
    { words: [], suffix: 's', item: 2 },
  ]);
  assert.deepEqual(shared, { words: [], suffix: 's' });
});

test('itemState can be async and choose any state', async () => {
  const seen: number[] = [];
  class See extends Node<{ square: number }> {
    override prep({ square }: { square: number }): void {
      seen.push(square);
    }
  }
  class Squares extends BatchFlow<object, number, { square: number }> {
    override prep(): number[] {
      return [2, 3];
    }
    override async itemState(_shared: object, item: number): Promise<{ square: number }> {
      return { square: item * item };
    }
  }
  await new Squares({ start: new See() }).run({}, { onEvent: () => {} });
  assert.deepEqual(seen, [4, 9]);
});

test('batches of flows nest, and errors and paths name both items', async () => {
  class Inner extends BatchFlow<{ item: string[] }, string, { item: string }> {
    override prep({ item }: { item: string[] }): string[] {
      return item;
    }
    override itemState(_shared: { item: string[] }, item: string): { item: string } {
      return { item };
    }
  }
  class Check extends Node<{ item: string }> {
    override post({ item }: { item: string }): void {
      if (item === 'bad') throw new AppError('limit', 'too much');
    }
  }
  class Outer extends BatchFlow<{ rows: string[][] }, string[]> {
    override prep({ rows }: { rows: string[][] }): string[][] {
      return rows;
    }
  }
  const outer = new Outer({ start: new Inner({ start: new Check() }) });
  const paths: string[] = [];
  const run = outer.run(
    { rows: [['a'], ['b', 'bad']] },
    { onEvent: (event) => void (event.type === 'node-start' && paths.push(event.path)) },
  );
  const error = await rejection(run);
  assert.ok(error instanceof AppError);
  assert.equal(error.code, 'limit');
  assert.equal(error.message, 'Outer[1] failed: Inner[1] failed: too much');
  assert.deepEqual(paths, ['Outer[0]/Inner[0]/Check', 'Outer[1]/Inner[0]/Check', 'Outer[1]/Inner[1]/Check']);
});

test('a checkpoint that does not fit the items of a batch is refused', async () => {
  const flow = new Flow<Shared>({
    start: eachOf(BatchFlow, new Upper(), new Node<Item>({ name: 'last' })),
    name: 'main',
  });
  const checkpoints: Checkpoint[] = [];
  const words: Shared = { words: ['a', 'b'], suffix: '' };
  await flow.run(words, { onCheckpoint: (checkpoint) => void checkpoints.push(structuredClone(checkpoint)) });
  const [first] = checkpoints;
  const point = first?.position[1];
  assert.ok(first && point?.parts?.[0]);
  const [part] = point.parts;
  for (const [parts, number] of [
    [[], 0],
    [[part], 1],
    [[part, part, part], 2],
  ] as const) {
    const position = [first.position[0], { ...point, parts, part: number }, first.position[2]];
    const resume = { ...first, position } as Checkpoint;
    await assert.rejects(flow.run(words, { resume }), (error: AppError) => {
      return error.code === 'bad-input' && /does not fit the items or branches of "each"/.test(error.message);
    });
  }
});

test('a batch resumes after each of its checkpoints with the same result, and repeats no finished step', async () => {
  const upper = new Upper();
  const flow = new Flow<Shared>({ start: eachOf(BatchFlow, upper, new Node<Item>({ name: 'last' })), name: 'main' });
  const checkpoints: Checkpoint[] = [];
  const whole: Shared = { words: ['a', 'b', 'c'], suffix: '!' };
  await flow.run(whole, { onCheckpoint: (checkpoint) => void checkpoints.push(structuredClone(checkpoint)) });
  assert.deepEqual(
    checkpoints.map(({ path }) => path),
    [...[0, 1, 2].flatMap((item) => [`main/each[${item}]/Upper`, `main/each[${item}]/last`]), 'main/each'],
  );
  for (const [index, checkpoint] of checkpoints.entries()) {
    upper.calls = [];
    const shared: Shared = { words: [], suffix: '' };
    await flow.run(shared, { resume: JSON.parse(JSON.stringify(checkpoint)) as Checkpoint });
    assert.deepEqual(shared, whole, checkpoint.path);
    assert.deepEqual(upper.calls, ['a!', 'b!', 'c!'].slice(Math.min(3, Math.floor(index / 2) + 1)), checkpoint.path);
  }
});

test('a checkpoint names the key of an item that JSON cannot store', async () => {
  class Odd extends Node<Item & { at?: Date }> {
    override post(state: Item & { at?: Date }): void {
      state.at = new Date(0);
    }
  }
  const run = eachOf(BatchFlow, new Odd()).run({ words: ['a'], suffix: '' }, { onCheckpoint: () => {} });
  await assert.rejects(run, /the state of each\[0\]\.at is a Date/);
});

class Ask extends Node<Item> {
  asked: string[] = [];
  override post(state: Item) {
    if (!state.item.endsWith('?')) {
      state.result = 'sure';
      return undefined;
    }
    this.asked.push(state.item);
    return pause({ question: `${state.item} Really`, choices: ['yes', 'no'] });
  }
  override answer(state: Item, input: string): void {
    state.result = input;
  }
}

for (const Form of FORMS) {
  test(`${Form.name} waits inside an item and continues with the answers, one question at a time`, async () => {
    const ask = new Ask();
    const flow = new Flow<Shared>({ start: eachOf(Form, ask), name: 'main' });
    const onEvent = (): void => {};
    const saved: Checkpoint[] = [];
    const shared: Shared = { words: ['a', 'b?', 'c', 'd?'], suffix: '' };
    const first = await rejection(flow.run(shared, { onEvent, onCheckpoint: (each) => void saved.push(each) }));
    assert.ok(first instanceof PausedError);
    assert.equal(first.question, 'b? Really');
    assert.equal(first.checkpoint.path, 'main/each[1]/Ask');
    assert.deepEqual(saved.at(-1), first.checkpoint);
    const stored = JSON.parse(JSON.stringify(first.checkpoint)) as Checkpoint;
    await assert.rejects(flow.run({} as Shared, { onEvent, resume: stored, input: 'perhaps' }), /not one of/);

    const second = await rejection(flow.run({} as Shared, { onEvent, resume: stored, input: 'yes' }));
    assert.ok(second instanceof PausedError);
    assert.equal(second.question, 'd? Really');
    assert.deepEqual(second.choices, ['yes', 'no']);
    const last = {} as Shared;
    const resume = JSON.parse(JSON.stringify(second.checkpoint)) as Checkpoint;
    assert.equal(await flow.run(last, { onEvent, resume, input: 'no' }), '4 items');
    assert.deepEqual(last.results, ['a: sure', 'b?: yes', 'c: sure', 'd?: no']);
    assert.deepEqual(ask.asked, ['b?', 'd?']);
  });
}

test('one batch of flows can run many times at once', async () => {
  const flow = eachOf(ParallelBatchFlow, new Upper());
  const runs = Array.from({ length: 20 }, async (_, index) => {
    const shared: Shared = { words: [`w${index}`, 'x'], suffix: '' };
    await flow.run(shared);
    return shared.results;
  });
  const results = await Promise.all(runs);
  assert.deepEqual(
    results,
    results.map((_, index) => [`w${index}: W${index}`, 'x: X']),
  );
});

test('ParallelBatchFlow runs up to `concurrency` items at a time, and when one fails it aborts the others', async () => {
  let [running, most] = [0, 0];
  const aborted: string[] = [];
  class Work extends Node<Item, string> {
    override prep(state: Item): string {
      return state.item;
    }
    override async exec(word: string, { signal }: { signal: AbortSignal }): Promise<void> {
      running += 1;
      most = Math.max(most, running);
      signal.addEventListener('abort', () => aborted.push(word));
      await sleep(word.startsWith('long') ? 60_000 : 2, undefined, { signal });
      running -= 1;
      if (word === 'bad') throw new Error('broken');
    }
  }
  class Each extends ParallelBatchFlow<Shared, string, Item> {
    override prep({ words }: Shared): string[] {
      return words;
    }
  }
  const each = new Each({ start: new Work(), concurrency: 3 });
  const events: TraceEvent[] = [];
  const onEvent = (event: TraceEvent): void => void events.push(event);
  await each.run({ words: ['1', '2', '3', '4', '5'], suffix: '' }, { onEvent });
  assert.equal(most, 3);
  const lanes = events.flatMap((event) => (event.type === 'node-start' ? [event.lane?.join() ?? ''] : []));
  assert.deepEqual(lanes.toSorted(), ['0', '1', '2', '3', '4']);

  events.length = 0;
  const run = each.run({ words: ['long 1', 'bad', 'long 3', '4'], suffix: '' }, { onEvent });
  await assert.rejects(run, /^Error: Each\[1\] failed: broken$/);
  assert.deepEqual(aborted.toSorted(), ['bad', 'long 1', 'long 3']);
  const count = events.length;
  await sleep(30);
  assert.equal(events.length, count, 'nothing is traced after the end');
  const ended = (path: string): number =>
    events.filter((event) => event.path === path && (event.type === 'error' || event.type === 'node-end')).length;
  for (const item of [0, 1, 2]) assert.equal(ended(`Each[${item}]/Work`), 1);
  assert.throws(() => new Each({ concurrency: 0 }), RangeError);
});

test('options of a batch flow that are not an object are refused', () => {
  for (const options of [5, 'x', [], () => {}, null]) {
    for (const Kind of [BatchFlow, ParallelBatchFlow]) {
      assert.throws(() => new Kind(options as never), { name: 'TypeError', message: /takes its options as an object/ });
    }
  }
});

test('a loop around a batch without items can be aborted, and counts its visits', { timeout: GUARD_MS }, async () => {
  for (const Kind of [BatchFlow, ParallelBatchFlow]) {
    class Empty extends Kind<unknown, number, unknown, string> {
      override prep(): number[] {
        return [];
      }
      override post(): string {
        return 'again';
      }
    }
    const empty = new Empty({ start: new Node() });
    const flow = new Flow({ start: empty }).connect(empty, empty, 'again');
    await assert.rejects(flow.run({}, { maxVisits: 50 }), { code: 'limit', message: /Empty -> Empty/ });
    await assert.rejects(flow.run({}, { signal: AbortSignal.timeout(20) }), { name: 'TimeoutError' });
  }
});
