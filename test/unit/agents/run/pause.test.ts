import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as z from 'zod';
import {
  AppError,
  type Checkpoint,
  Flow,
  Node,
  pause,
  PausedError,
  type RunOptions,
  type TraceEvent,
} from '../../../../src/agents/index.ts';

interface Shared {
  draft?: string;
  log: string[];
}

class Write extends Node<Shared> {
  override post(shared: Shared): void {
    shared.log.push('write');
    shared.draft = 'A wharf.';
  }
}

class Review extends Node<Shared> {
  override post(shared: Shared) {
    shared.log.push('ask');
    return pause({ question: `Publish "${shared.draft}"?`, choices: ['yes', 'no'] });
  }
  override answer(shared: Shared, input: string) {
    shared.log.push(`answer ${input}`);
    return input === 'yes' ? ('publish' as const) : ('rewrite' as const);
  }
}

class Publish extends Node<Shared> {
  override post(shared: Shared): void {
    shared.log.push('publish');
  }
}

/** outer: write -> inner(review) -> publish, or back to write. */
function sample(): Flow<Shared> {
  const [write, review, publish] = [new Write(), new Review(), new Publish()];
  const inner = new Flow<Shared>({ start: review, name: 'inner' });
  inner.connect(review, null, 'publish').connect(review, null, 'rewrite');
  return new Flow<Shared>({ start: write, name: 'outer' })
    .connect(write, inner)
    .connect(inner, publish, 'publish')
    .connect(inner, write, 'rewrite')
    .connect(publish, null);
}

async function paused(run: Promise<unknown>): Promise<PausedError> {
  const error: unknown = await run.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  assert.ok(error instanceof PausedError, String(error));
  return error;
}

const throughJson = (checkpoint: Checkpoint): Checkpoint => JSON.parse(JSON.stringify(checkpoint)) as Checkpoint;

test('a pause ends the run with the question, and the answer continues it, also in another process', async () => {
  const first: Shared = { log: [] };
  const { question, choices, node, checkpoint } = await paused(sample().run(first));
  assert.equal(question, 'Publish "A wharf."?');
  assert.deepEqual(choices, ['yes', 'no']);
  assert.equal(node, 'Review');

  const again: Shared = { log: [] };
  const second = await paused(sample().run(again, { resume: throughJson(checkpoint), input: 'no' }));
  assert.deepEqual(again.log, ['write', 'ask', 'answer no', 'write', 'ask']);
  const last: Shared = { log: [] };
  await sample().run(last, { resume: throughJson(second.checkpoint), input: 'yes' });
  assert.deepEqual(last.log.slice(-2), ['answer yes', 'publish']);
});

test('a wrong answer is refused before anything changes, and the checkpoint stays usable', async () => {
  const { checkpoint } = await paused(sample().run({ log: [] }));
  const copy = structuredClone(checkpoint);
  const shared: Shared = { log: ['untouched'] };
  const resume = (options: RunOptions): Promise<unknown> => sample().run(shared, { resume: checkpoint, ...options });
  const refused = (message: RegExp) => ({ name: 'AppError', code: 'bad-input', message });
  await assert.rejects(resume({ input: 'maybe' }), refused(/"maybe" is not one of "yes", "no"/));
  await assert.rejects(resume({}), refused(/waits for an answer at outer\/inner\/Review.*Pass the answer as input/));
  assert.deepEqual(shared, { log: ['untouched'] });
  assert.deepEqual(checkpoint, copy);
  await resume({ input: 'yes' });
  assert.equal(shared.log.at(-1), 'publish');
});

test('an answer is checked against the schema of the pause, with or without the schema itself', async () => {
  class Limit extends Node<{ limit?: unknown }> {
    override post() {
      return pause({
        question: 'How many?',
        input: z.object({ count: z.int().min(1).max(9), note: z.string().optional(), kind: z.string().default('any') }),
      });
    }
    override answer(shared: { limit?: unknown }, input: unknown): void {
      shared.limit = input;
    }
  }
  const { checkpoint } = await paused(new Limit().run({}));
  for (const resume of [checkpoint, throughJson(checkpoint)]) {
    for (const input of [{ count: 0 }, { count: 10 }, { count: 1.5 }, { count: '3' }, {}, 'three', null, [1]]) {
      await assert.rejects(new Limit().run({}, { resume, input }), { code: 'bad-input', message: /does not match/ });
    }
    const shared: { limit?: unknown } = {};
    await new Limit().run(shared, { resume, input: { count: 3 } });
    assert.deepEqual(shared.limit, { count: 3, kind: 'any' });
  }
});

test('a pause without an answer hook, choices that are none, and an input that nobody waits for are refused', async () => {
  class Mute extends Node {
    override post() {
      return pause({ question: 'Who?' });
    }
  }
  await assert.rejects(new Mute().run({}), { code: 'bad-input', message: /"Mute" returned a pause, but .* no answer/ });
  assert.throws(() => pause({ question: '' }), TypeError);
  assert.throws(() => pause({ question: 'Who?', choices: 'yes' as unknown as string[] }), /option choices/);
  await assert.rejects(new Mute().run({}, { input: 1 }), { code: 'bad-input', message: /needs the option resume/ });
  const checkpoints: Checkpoint[] = [];
  const write = new Write();
  const flow = new Flow<Shared>({ start: write }).connect(write, null);
  await flow.run({ log: [] }, { onCheckpoint: (checkpoint) => void checkpoints.push(checkpoint) });
  const [resume] = checkpoints;
  await assert.rejects(flow.run({ log: [] }, { resume, input: 1 }), { code: 'bad-input', message: /takes no input/ });
});

test('a resume that is not a checkpoint of this version is refused', async () => {
  const { checkpoint } = await paused(sample().run({ log: [] }));
  for (const resume of [{}, { ...checkpoint, version: 2 }, { ...checkpoint, position: [] }] as Checkpoint[]) {
    const run = sample().run({ log: [] }, { resume, input: 'yes' });
    await assert.rejects(run, { code: 'bad-input', message: /not a checkpoint of this version/ });
  }
});

test('a trace shows the pause as the end of its visit and of the flows around it, and the answer as a visit', async () => {
  const types: string[] = [];
  const onEvent = (event: TraceEvent): void => void types.push(`${event.type} ${event.path} ${event.visit}`);
  let stored: Checkpoint | undefined;
  const onCheckpoint = (checkpoint: Checkpoint): void => void (stored = checkpoint);
  await paused(sample().run({ log: [] }, { onEvent, onCheckpoint }));
  assert.deepEqual(types.slice(-3), ['pause outer/inner/Review 1', 'pause outer/inner 1', 'pause outer 1']);
  assert.ok(stored?.pause);
  types.length = 0;
  await sample().run({ log: [] }, { resume: stored, input: 'yes', onEvent });
  assert.deepEqual(types.slice(0, 4), [
    'flow-start outer 1',
    'flow-start outer/inner 1',
    'node-start outer/inner/Review 1',
    'node-end outer/inner/Review 1',
  ]);
});

test('a pause of a run in a hook is neither retried nor passed to the fallback', async () => {
  let attempts = 0;
  class Outer extends Node {
    override exec(): Promise<unknown> {
      attempts += 1;
      return sample().run({ log: [] });
    }
    override execFallback(): never {
      throw new AppError('missing', 'the fallback ran');
    }
  }
  await paused(new Outer({ maxRetries: 3 }).run({}));
  assert.equal(attempts, 1);
});

test('the compiler knows the actions of answer, and takes no pause for an action', () => {
  const review = new Review();
  const flow = new Flow<Shared>({ start: review });
  flow.connect(review, null, 'publish').connect(review, null, 'rewrite');
  // @ts-expect-error answer never returns this action
  flow.connect(review, null, 'publsh');
});

test('a pause that nobody could answer, or that is no question, is refused', () => {
  for (const [request, message] of [
    [undefined, 'pause takes its options as an object, not undefined: { question: … }.'],
    [null, 'pause takes its options as an object, not null: { question: … }.'],
    [{ question: 5 }, 'The option question of pause must be a string, not the number 5.'],
    [{ question: {} }, 'The option question of pause must be a string, not an object.'],
    [
      { question: 'Who?', input: 5 },
      'The option input of pause must be a schema, such as z.object({ … }), not the number 5.',
    ],
    [
      { question: 'Which?', choices: [] },
      'The option choices of pause is empty, so no answer would be allowed. Leave it out for any text.',
    ],
  ] as const) {
    assert.throws(() => pause(request as never), { name: 'TypeError', message });
  }
});
