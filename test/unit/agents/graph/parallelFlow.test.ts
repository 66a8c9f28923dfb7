import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  type Checkpoint,
  Flow,
  Node,
  ParallelFlow,
  type ParallelFlowOptions,
  pause,
  PausedError,
  type TraceEvent,
} from '../../../../src/agents/index.ts';
import { rejection } from '../../rejection.ts';

interface Shared {
  topic: string;
  notes: string[];
  report?: string;
  secret?: () => void;
}

class Note extends Node<Shared, string, string> {
  readonly #delayMs: number;
  constructor(name: string, delayMs = 0) {
    super({ name });
    this.#delayMs = delayMs;
  }
  override prep(shared: Shared): string {
    return shared.topic;
  }
  override async exec(topic: string, { signal }: { signal: AbortSignal }): Promise<string> {
    await sleep(this.#delayMs, undefined, { signal });
    if (this.name === 'broken') throw new Error('no news');
    return `${this.name} of ${topic}`;
  }
  override post(shared: Shared, _topic: string, note: string): void {
    shared.notes.push(note);
    shared.topic = this.name;
  }
}

type Branches = Readonly<Record<'news' | 'weather', Shared>>;

class Gather extends ParallelFlow<Shared, 'news' | 'weather'> {
  override merge(shared: Shared, { news, weather }: Branches) {
    shared.report = [...news.notes, ...weather.notes].join('; ');
    return 'gathered' as const;
  }
}

test('branches run beside each other on copies of the state, and only merge changes the shared state', async () => {
  const weather = new Note('weather', 5);
  const gather = new Gather({
    branches: { news: new Flow({ start: weather }).connect(weather, null), weather: new Note('wind', 1) },
  });
  const flow = new Flow<Shared>({ start: gather, name: 'main' }).connect(gather, null, 'gathered');
  const events: TraceEvent[] = [];
  const shared: Shared = { topic: 'tides', notes: ['first'] };
  assert.equal(await flow.run(shared, { onEvent: (event) => void events.push(event) }), 'gathered');
  assert.deepEqual(shared, {
    topic: 'tides',
    notes: ['first'],
    report: 'first; weather of tides; first; wind of tides',
  });
  assert.deepEqual(
    events.flatMap((event) => (event.type === 'node-start' || event.type === 'flow-start' ? [event.path] : [])),
    ['main', 'main/Gather', 'main/Gather/news', 'main/Gather/news/weather', 'main/Gather/weather'],
  );
  assert.ok(!events.some(({ type }) => type === 'warning'));
});

test('a failed branch is named, and the others are aborted', async () => {
  const gather = new Gather({ branches: { news: new Note('broken', 1), weather: new Note('slow', 60_000) } });
  const events: TraceEvent[] = [];
  const run = gather.run({ topic: 't', notes: [] }, { onEvent: (event) => void events.push(event) });
  await assert.rejects(run, /^Error: Gather\/news failed: no news$/);
  const failed = events.flatMap((event) => (event.type === 'error' ? [event.path] : []));
  assert.deepEqual(failed, ['Gather/news', 'Gather/weather', 'Gather']);
});

test('a branch that never ends does not outlive an abort of the run', async () => {
  const gather = new Gather({ branches: { news: new Note('slow', 60_000), weather: new Note('slower', 60_000) } });
  const controller = new AbortController();
  setTimeout(() => controller.abort(new Error('stop')), 5);
  await assert.rejects(gather.run({ topic: 't', notes: [] }, { signal: controller.signal }), /^Error: stop$/);
});

test('a state that cannot be copied is an error with its key, and branchState can choose what a branch gets', async () => {
  const branches = { news: new Note('news'), weather: new Note('weather') };
  const shared: Shared = { topic: 't', notes: [], secret: () => {} };
  await assert.rejects(
    new Gather({ branches }).run(shared),
    /shared\.secret cannot be copied for the branch Gather\/news/,
  );
  class Chosen extends Gather {
    override branchState({ notes }: Shared, branch: string): Shared {
      return { topic: branch, notes: [...notes] };
    }
  }
  assert.equal(await new Chosen({ branches }).run(shared), 'gathered');
  assert.equal(shared.report, 'news of news; weather of weather');
});

test('a parallel flow needs branches that are nodes, and a merge', () => {
  const odd = (options: unknown): void => void new Gather(options as ParallelFlowOptions<Shared, 'news' | 'weather'>);
  assert.throws(() => odd({}), /"Gather" needs branches/);
  assert.throws(() => odd({ branches: {} }), /"Gather" needs branches/);
  assert.throws(() => odd({ branches: [] }), /branches .* must be an object/);
  assert.throws(() => odd({ branches: { news: 3 } }), /branch "news" of "Gather" must be a Node or a Flow/);
  assert.throws(() => odd(undefined), TypeError);
  const Untyped: unknown = ParallelFlow;
  const Bare = Untyped as new (options: object) => object;
  assert.throws(() => new Bare({ branches: { a: new Node() } }), /needs merge\(shared, branches\)/);
  assert.throws(
    () => new Gather({ branches: { news: new Note('a'), weather: new Note('b') }, concurrency: 0 }),
    RangeError,
  );
});

test('branches with odd names are kept apart', async () => {
  const names = ['__proto__', 'constructor', 'a/b'] as const;
  class Odd extends ParallelFlow<Shared, (typeof names)[number]> {
    override merge(shared: Shared, branches: Readonly<Record<string, Shared>>): void {
      shared.notes = Object.entries(branches).map(([name, { notes }]) => `${name}: ${notes.length}`);
    }
  }
  const branches = Object.fromEntries(names.map((name) => [name, new Note(name)]));
  const shared: Shared = { topic: 't', notes: [] };
  await new Odd({ branches: branches as Record<(typeof names)[number], Note> }).run(shared, { onEvent: () => {} });
  assert.deepEqual(shared.notes, ['__proto__: 1', 'constructor: 1', 'a/b: 1']);
});

class Ask extends Node<Shared> {
  override post() {
    return pause({ question: `${this.name}?` });
  }
  override answer(shared: Shared, input: string): void {
    shared.notes.push(input);
  }
}

test('a branch can wait for a person while the others end, and they are not repeated', async () => {
  let runs = 0;
  class Once extends Note {
    override exec(topic: string): Promise<string> {
      runs += 1;
      return Promise.resolve(topic);
    }
  }
  const [ask, once] = [new Ask({ name: 'ask' }), new Once('once')];
  const news = new Flow<Shared>({ start: ask, name: 'news' }).connect(ask, once).connect(once, null);
  const gather = new Gather({ branches: { news, weather: new Once('wind') } });
  const flow = new Flow<Shared>({ start: gather, name: 'main' }).connect(gather, null, 'gathered');
  const saved: Checkpoint[] = [];
  const shared: Shared = { topic: 't', notes: [] };
  const error = await rejection(flow.run(shared, { onCheckpoint: (one) => void saved.push(one) }));
  assert.ok(error instanceof PausedError);
  assert.equal(error.question, 'ask?');
  assert.equal(runs, 1);
  assert.deepEqual(saved, [error.checkpoint]);
  const resumed = {} as Shared;
  await flow.run(resumed, { resume: JSON.parse(JSON.stringify(error.checkpoint)) as Checkpoint, input: 'yes' });
  assert.equal(resumed.report, 'yes; t; t');
  assert.equal(runs, 2);
});

test('both branches can wait, and ask one after the other', async () => {
  const gather = new Gather({ branches: { news: new Ask({ name: 'a' }), weather: new Ask({ name: 'b' }) } });
  const first = await rejection(gather.run({ topic: 't', notes: [] }));
  assert.ok(first instanceof PausedError && first.question === 'a?');
  const resume = first.checkpoint;
  const second = await rejection(gather.run({} as Shared, { resume, input: '1' }));
  assert.ok(second instanceof PausedError && second.question === 'b?');
  const shared = {} as Shared;
  await gather.run(shared, { resume: second.checkpoint, input: '2' });
  assert.equal(shared.report, '1; 2');
});
