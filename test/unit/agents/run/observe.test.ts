import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import {
  BatchNode,
  type Checkpoint,
  checkpointFile,
  type ExecContext,
  Flow,
  Node,
  ParallelBatchNode,
  readCheckpoint,
  Recording,
  type TraceEvent,
  TraceFile,
} from '../../../../src/agents/index.ts';
import { scopes } from '../../../../src/agents/run/runScope.ts';

interface Shared {
  count: number;
  words?: string[];
  extra?: unknown;
}

async function folder(t: TestContext): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), 'farwharf-agents-'));
  t.after(() => rm(path, { recursive: true, force: true }));
  return path;
}

/** outer: count -> nested(work x2) -> count -> ... until 3. Every exec counts its calls. */
function sample(calls: string[], limit = 3) {
  class Count extends Node<Shared, number, number> {
    override prep(shared: Shared): number {
      return shared.count;
    }
    override exec(count: number): number {
      calls.push(`count ${count}`);
      return count + 1;
    }
    override post(shared: Shared, _before: number, count: number): 'more' | 'done' {
      shared.count = count;
      return count < limit ? 'more' : 'done';
    }
  }
  class Work extends BatchNode<Shared, string, string> {
    override prep(shared: Shared): string[] {
      return ['a', `b${shared.count}`];
    }
    override async exec(word: string): Promise<string> {
      calls.push(`work ${word}`);
      return word.toUpperCase();
    }
    override post(shared: Shared, _items: readonly string[], words: string[]): void {
      shared.words = [...(shared.words ?? []), ...words];
    }
  }
  const [count, work] = [new Count(), new Work()];
  const nested = new Flow<Shared>({ start: work, name: 'nested' }).connect(work, null);
  const flow = new Flow<Shared>({ start: count, name: 'main' })
    .connect(count, nested, 'more')
    .connect(count, null, 'done')
    .connect(nested, count);
  return { flow, count, work, nested };
}

test('trace events come in order, with paths, visit numbers, attempts and edges', async () => {
  const events: TraceEvent[] = [];
  await sample([]).flow.run({ count: 0 }, { onEvent: (event) => events.push(event) });
  const lines = events.map((event) => `${event.type} ${event.path} ${event.visit}`);
  assert.deepEqual(lines.slice(0, 11), [
    'flow-start main 1',
    'node-start main/Count 1',
    'node-end main/Count 1',
    'edge main/Count 1',
    'flow-start main/nested 1',
    'node-start main/nested/Work 1',
    'attempt main/nested/Work 1',
    'attempt main/nested/Work 1',
    'node-end main/nested/Work 1',
    'edge main/nested/Work 1',
    'flow-end main/nested 1',
  ]);
  assert.ok(lines.includes('node-start main/nested#2/Work 1'), 'the second visit of the nested flow has its own path');
  assert.equal(lines.at(-1), 'flow-end main 1');
  const end = events.find((event) => event.type === 'node-end' && event.node === 'Work');
  assert.ok(end?.type === 'node-end');
  assert.equal(end.prepSize, 2);
  assert.equal(end.execSize, 2);
  assert.equal(end.action, undefined);
  assert.ok(events.every((event, index) => index === 0 || event.at >= (events[index - 1]?.at ?? 0)));
});

test('retries, fallbacks and errors are events that say why', async () => {
  class Broken extends Node<Shared> {
    override exec(): void {
      throw new Error('no luck');
    }
  }
  class Rescued extends Broken {
    override execFallback(): void {}
  }
  const types = async (node: Node<Shared>): Promise<string[]> => {
    const seen: string[] = [];
    const onEvent = (event: TraceEvent): void => {
      seen.push('message' in event ? `${event.type}: ${event.message}` : event.type);
    };
    await node.run({ count: 0 }, { onEvent }).catch(() => {});
    return seen;
  };
  assert.deepEqual(await types(new Broken({ maxRetries: 2 })), [
    'node-start',
    'attempt',
    'retry: no luck',
    'attempt',
    'error: no luck',
  ]);
  assert.deepEqual(await types(new Rescued()), ['node-start', 'attempt', 'fallback: no luck', 'node-end']);
});

test('the trace of an aborted run ends with the abort, whatever its hooks still do', async () => {
  const controller = new AbortController();
  const seen: string[] = [];
  const late = Promise.withResolvers<void>();
  class Deaf extends ParallelBatchNode<Shared, string, string> {
    override prep(): string[] {
      return ['a', 'b', 'c'];
    }
    override async exec(item: string): Promise<string> {
      await new Promise((resolve) => setTimeout(resolve, 10));
      setTimeout(late.resolve, 10);
      if (item === 'a') controller.abort(new Error('stop'));
      throw new Error('too late');
    }
  }
  const nested = new Flow<Shared>({ start: new Deaf({ concurrency: 2, maxRetries: 2 }), name: 'nested' });
  const flow = new Flow<Shared>({ start: nested, name: 'main' });
  const onEvent = (event: TraceEvent): void =>
    void seen.push(`${event.type} ${event.path}${event.type === 'error' ? `: ${event.message}` : ''}`);
  const run = flow.run({ count: 0 }, { onEvent, signal: controller.signal });
  await assert.rejects(run, /stop/);
  const atEnd = [...seen];
  assert.deepEqual(atEnd.slice(-3), ['error main/nested/Deaf: stop', 'error main/nested: stop', 'error main: stop']);
  await late.promise;
  await setImmediate();
  assert.deepEqual(seen, atEnd);
});

test('a listener that throws at an abort ends the run with its own error', async () => {
  const controller = new AbortController();
  class Waiting extends Node<Shared> {
    override async exec(): Promise<void> {
      controller.abort(new Error('stop'));
    }
  }
  const onEvent = ({ type }: TraceEvent): void => {
    if (type === 'error') throw new Error('disk full');
  };
  await assert.rejects(new Waiting().run({ count: 0 }, { onEvent, signal: controller.signal }), /disk full/);
});

test('a model call in post of a flow is reported for the flow', async () => {
  const places: string[] = [];
  class Outer extends Flow<Shared> {
    override post(): void {
      scopes.getStore()?.visit?.model({ provider: 'p', model: 'm', durationMs: 1, retries: 0 });
    }
  }
  const onEvent = (event: TraceEvent): void => void (event.type === 'model' && places.push(event.path));
  await new Outer({ start: new Node<Shared>(), name: 'main' }).run({ count: 0 }, { onEvent });
  assert.deepEqual(places, ['main']);
});

test('two nodes of one name have different labels in a flow', async () => {
  const [a, b] = [new Node<Shared>({ name: 'same' }), new Node<Shared>({ name: 'same' })];
  const starts: string[] = [];
  await new Flow<Shared>({ start: a })
    .connect(a, b)
    .connect(b, null)
    .run({ count: 0 }, { onEvent: (event) => void (event.type === 'node-start' && starts.push(event.path)) });
  assert.deepEqual(starts, ['Flow/same', 'Flow/same~2']);
});

test('TraceFile writes every event as one JSON line', async (t) => {
  const path = join(await folder(t), 'trace.jsonl');
  const events: TraceEvent[] = [];
  const trace = new TraceFile(path);
  await sample([]).flow.run(
    { count: 0 },
    {
      onEvent(event) {
        events.push(event);
        trace.onEvent(event);
      },
    },
  );
  await trace.close();
  const lines = (await readFile(path, 'utf8')).trimEnd().split('\n');
  assert.deepEqual(
    lines.map((line) => JSON.parse(line) as unknown),
    JSON.parse(JSON.stringify(events)),
  );
});

test('TraceFile writes emitted data that JSON cannot store as a text, and does not end the run', async (t) => {
  const path = join(await folder(t), 'trace.jsonl');
  const trace = new TraceFile(path);
  const cycle: Record<string, unknown> = {};
  cycle['self'] = cycle;
  class Emit extends Node {
    override exec(_prepRes: unknown, { emit }: ExecContext): void {
      for (const data of [12n, cycle, { plain: true }]) emit(data);
    }
  }
  await new Emit().run({}, { onEvent: trace.onEvent });
  await trace.close();
  const events = (await readFile(path, 'utf8'))
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as TraceEvent);
  const emitted = events.filter((event) => event.type === 'emit').map(({ node, data }) => [node, data]);
  assert.deepEqual(emitted, [
    ['Emit', '12n'],
    ['Emit', '<ref *1> { self: [Circular *1] }'],
    ['Emit', { plain: true }],
  ]);
});

test('TraceFile reports a file that cannot be written when it is closed', async (t) => {
  const trace = new TraceFile(join(await folder(t), 'missing', 'trace.jsonl'));
  await sample([]).flow.run({ count: 0 }, { onEvent: trace.onEvent });
  await assert.rejects(trace.close(), { code: 'ENOENT' });
});

test('a run resumes from any of its checkpoints with the same end, without repeating what was done', async () => {
  const checkpoints: Checkpoint[] = [];
  const calls: string[] = [];
  const complete: Shared = { count: 0 };
  await sample(calls).flow.run(complete, {
    onCheckpoint: (checkpoint) => void checkpoints.push(structuredClone(checkpoint)),
  });
  assert.deepEqual(
    checkpoints.map(({ path }) => path),
    ['main/Count', 'main/nested/Work', 'main/nested', 'main/Count', 'main/nested#2/Work', 'main/nested', 'main/Count'],
  );
  const finished = [1, 3, 3, 4, 6, 6, 7]; // calls of exec up to each checkpoint
  for (const [index, checkpoint] of checkpoints.entries()) {
    const later: string[] = [];
    const shared: Shared = { count: -1, extra: 'is replaced' };
    const resume = JSON.parse(JSON.stringify(checkpoint)) as Checkpoint;
    await sample(later).flow.run(shared, { resume });
    assert.deepEqual(shared, complete, checkpoint.path);
    assert.deepEqual(later, calls.slice(finished[index]), checkpoint.path);
  }
});

test('a resumed run numbers its visits as the whole run does', async () => {
  const checkpoints: Checkpoint[] = [];
  const whole: string[] = [];
  const note = (into: string[]) => (event: TraceEvent) => {
    if (event.type === 'node-start' || event.type === 'flow-start') into.push(`${event.path} ${event.visit}`);
  };
  await sample([]).flow.run({ count: 0 }, { onCheckpoint: (c) => void checkpoints.push(c), onEvent: note(whole) });
  const [, , , , resume] = checkpoints;
  const rest: string[] = [];
  await sample([]).flow.run({ count: 0 }, { resume, onEvent: note(rest) });
  assert.deepEqual(rest, ['main 1', 'main/nested 2', 'main/Count 3']);
  assert.deepEqual(whole.slice(-1), rest.slice(-1));
});

test('a run resumes with edited code', async () => {
  const checkpoints: Checkpoint[] = [];
  await sample([]).flow.run({ count: 0 }, { onCheckpoint: (checkpoint) => void checkpoints.push(checkpoint) });
  const calls: string[] = [];
  const shared: Shared = { count: 0 };
  await sample(calls, 2).flow.run(shared, { resume: checkpoints[1] });
  assert.deepEqual(calls, ['count 1']);
});

test('a checkpoint of a node that the flow no longer has is refused by name', async () => {
  const checkpoints: Checkpoint[] = [];
  await sample([]).flow.run({ count: 0 }, { onCheckpoint: (checkpoint) => void checkpoints.push(checkpoint) });
  const other = new Flow<Shared>({ start: new Node({ name: 'other' }), name: 'main' });
  await assert.rejects(other.run({ count: 0 }, { resume: checkpoints[0] }), /"Count".*"main" has no such node/);
});

test('shared state that JSON cannot hold is refused with the name of its key', async () => {
  const circular: Record<string, unknown> = {};
  circular['self'] = circular;
  const cases: [unknown, RegExp][] = [
    [new Map(), /shared\.extra is a Map/],
    [{ deep: [1, new Date(0)] }, /shared\.extra\.deep\[1\] is a Date/],
    [() => 1, /shared\.extra is a function/],
    [Number.NaN, /shared\.extra is NaN/],
    [1n, /shared\.extra is a bigint/],
    [[undefined], /shared\.extra\[0\] is undefined,/],
    [circular, /shared\.extra\.self is a reference back/],
  ];
  for (const [extra, message] of cases) {
    await assert.rejects(sample([]).flow.run({ count: 0, extra }, { onCheckpoint: () => {} }), { message });
  }
});

test('a recording is saved although the run failed, and the next run repeats only what had not ended', async (t) => {
  const path = join(await folder(t), 'run.jsonl');
  const done: number[] = [];
  let isBroken = true;
  class Each extends BatchNode<object, number, number> {
    override prep(): number[] {
      return [1, 2, 3];
    }
    override async exec(item: number): Promise<number> {
      if (item === 3 && isBroken) throw new Error('the line is cut');
      done.push(item);
      return item;
    }
  }
  const run = async (): Promise<void> => {
    await using recording = await Recording.open(path);
    await new Each().run({}, { record: recording, replay: recording });
  };
  await assert.rejects(run(), /the line is cut/);
  isBroken = false;
  await run();
  assert.deepEqual(done, [1, 2, 3]);
});

test('a recording that was only read is not written', async (t) => {
  const path = join(await folder(t), 'run.jsonl');
  await (await Recording.open(path))[Symbol.asyncDispose]();
  await assert.rejects(readFile(path), { code: 'ENOENT' });
});

test('a checkpoint that has no folder is an error that names its path', async () => {
  const path = join('no', 'such', 'folder', 'run.json');
  await assert.rejects(sample([]).flow.run({ count: 0 }, { onCheckpoint: checkpointFile(path) }), {
    name: 'AppError',
    code: 'missing',
    message: `The checkpoint ${path} could not be written, because its folder does not exist. Create the folder.`,
  });
});

test('checkpointFile keeps the newest checkpoint, which readCheckpoint gives back', async (t) => {
  const path = join(await folder(t), 'run.json');
  const complete: Shared = { count: 0 };
  await sample([]).flow.run(complete, { onCheckpoint: checkpointFile(path) });
  const checkpoint = await readCheckpoint(path);
  assert.equal(checkpoint.path, 'main/Count');
  assert.equal(checkpoint.visit, 3);
  assert.deepEqual(checkpoint.shared, complete);
});

test('a checkpoint that is missing or not one is an error with its path', async (t) => {
  const path = join(await folder(t), 'run.json');
  await assert.rejects(readCheckpoint(path), { code: 'missing', message: /run\.json/ });
  await writeFile(path, '{"version":1,"shared":{}}');
  await assert.rejects(readCheckpoint(path), { code: 'corrupt', message: /run\.json/ });
});

test('a replayed run calls no exec and ends the same', async (t) => {
  const path = join(await folder(t), 'run.jsonl');
  const recorded: Shared = { count: 0 };
  const record = await Recording.open(path);
  const calls: string[] = [];
  await sample(calls).flow.run(recorded, { record });
  await record.save();
  assert.equal(record.size, calls.length);

  const later: string[] = [];
  const replayed: Shared = { count: 0 };
  const events: TraceEvent[] = [];
  const replay = await Recording.open(path, { whenMissing: 'fail' });
  await sample(later).flow.run(replayed, { replay, onEvent: (event) => events.push(event) });
  assert.deepEqual(later, []);
  assert.deepEqual(replayed, recorded);
  const ends = events.flatMap((event) => (event.type === 'node-end' ? [event.isReplayed] : []));
  assert.deepEqual([...new Set(ends)], [true]);
});

test('an edited node runs live and the others stay replayed', async (t) => {
  const record = await Recording.open(join(await folder(t), 'run.jsonl'));
  await sample([]).flow.run({ count: 0 }, { record });
  const calls: string[] = [];
  const edited = sample(calls);
  edited.work.exec = async (word) => {
    calls.push(`edited ${word}`);
    return word;
  };
  await edited.flow.run({ count: 0 }, { replay: record });
  assert.deepEqual(calls, ['edited a', 'edited b1', 'edited a', 'edited b2']);
});

test('another input runs live, or fails by name where the recording must be complete', async (t) => {
  const path = join(await folder(t), 'run.jsonl');
  const record = await Recording.open(path);
  await sample([]).flow.run({ count: 0 }, { record });
  await record.save();
  const calls: string[] = [];
  await sample(calls).flow.run({ count: 1 }, { replay: record });
  assert.equal(calls[0], 'count 1');
  const strict = await Recording.open(path, { whenMissing: 'fail' });
  await assert.rejects(sample([]).flow.run({ count: 1 }, { replay: strict }), {
    code: 'missing',
    message: /run\.jsonl has no result for main\/Count \(visit 1\)/,
  });
});

test('what a fallback gave is recorded in place of the failed exec', async (t) => {
  const path = join(await folder(t), 'run.jsonl');
  let calls = 0;
  class Unreliable extends Node<Shared, unknown, string> {
    override exec(): string {
      calls += 1;
      throw new Error('offline');
    }
    override execFallback(): string {
      return 'canned';
    }
    override post(shared: Shared, _prepRes: unknown, result: string): void {
      shared.extra = result;
    }
  }
  const record = await Recording.open(path);
  await new Unreliable({ maxRetries: 2 }).run({ count: 0 }, { record });
  const shared: Shared = { count: 0 };
  await new Unreliable({ maxRetries: 2 }).run(shared, { replay: record });
  assert.equal(calls, 2);
  assert.equal(shared.extra, 'canned');
});

test('a result that JSON cannot hold is refused with the name of the node', async (t) => {
  const record = await Recording.open(join(await folder(t), 'run.jsonl'));
  const node = new Node<Shared>({ name: 'maps' });
  node.exec = () => new Map();
  await assert.rejects(node.run({ count: 0 }, { record }), /result of exec in maps.*Map/);
});

test('a line that is no entry is refused with its number', async (t) => {
  const path = join(await folder(t), 'run.jsonl');
  await writeFile(path, '\n{"path":1}\n');
  await assert.rejects(Recording.open(path), { code: 'corrupt', message: /run\.jsonl:1/ });
});
