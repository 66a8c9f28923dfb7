import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { test } from 'node:test';
import { AsyncDisposableStore, DisposableStore, Emitter, untilTrue } from '../../../../src/core/processes/lifetime.ts';

test('a store disposes in reverse order and at once what arrives late', () => {
  const order: string[] = [];
  const item = (name: string) => ({ dispose: () => void order.push(name) });
  const store = new DisposableStore();
  store.add(item('first'));
  store.add(item('second'));
  store.dispose();
  store.add(item('late'));
  assert.deepEqual(order, ['second', 'first', 'late']);
});

test('one item that throws does not keep the others alive', () => {
  let released = false;
  const store = new DisposableStore();
  store.add({ dispose: () => void (released = true) });
  store.add({
    dispose: () => {
      throw new Error('stuck');
    },
  });
  assert.throws(() => store.dispose(), AggregateError);
  assert.ok(released);
});

test('a listener gets every value until it is disposed', () => {
  const seen: number[] = [];
  const emitter = new Emitter<number>();
  const subscription = emitter.event((value) => void seen.push(value));
  emitter.fire(1);
  subscription.dispose();
  emitter.fire(2);
  assert.deepEqual(seen, [1]);
});

test('an asynchronous store releases in reverse order, each after the one before, although one fails', async () => {
  const order: string[] = [];
  const item = (name: string) => ({
    async [Symbol.asyncDispose]() {
      order.push(`${name} begins`);
      await Promise.resolve();
      order.push(`${name} ends`);
    },
  });
  const use = async (): Promise<void> => {
    await using store = new AsyncDisposableStore();
    store.use(item('first'));
    store.defer(() => {
      throw new Error('stuck');
    });
    store.use(item('second'));
  };
  await assert.rejects(use, AggregateError);
  assert.deepEqual(order, ['second begins', 'second ends', 'first begins', 'first ends']);
});

test('what was moved out of an asynchronous store outlives it', async () => {
  let isReleased = false;
  const start = async (): Promise<AsyncDisposable> => {
    await using store = new AsyncDisposableStore();
    store.defer(() => void (isReleased = true));
    return store.move();
  };
  const moved = await start();
  assert.equal(isReleased, false);
  await moved[Symbol.asyncDispose]();
  assert.equal(isReleased, true);
});

test('a wait for a condition ends at once, after the event that makes it true, or with its signal', async () => {
  const emitter = new Emitter<void>();
  const never = new AbortController();
  await untilTrue(emitter.event, () => true, never.signal);
  let isDone = false;
  let isOver = false;
  const waiting = untilTrue(emitter.event, () => isDone, never.signal).then(() => (isOver = true));
  emitter.fire();
  await Promise.resolve();
  assert.deepEqual([isOver, emitter.isEmpty], [false, false]);
  isDone = true;
  emitter.fire();
  await waiting;
  assert.equal(emitter.isEmpty, true);
  const stop = new AbortController();
  const stopped = untilTrue(emitter.event, () => false, stop.signal);
  stop.abort();
  await stopped;
  assert.equal(emitter.isEmpty, true);
  await untilTrue(emitter.event, () => false, stop.signal);
});

test('what could not be released is in one error, after everything else was', async () => {
  const failure = (name: string) => (): never => {
    throw new Error(name);
  };
  const store = new DisposableStore();
  for (const name of ['a', 'b']) store.add({ dispose: failure(name) });
  const expected = (error: unknown): boolean => {
    assert.ok(error instanceof AggregateError);
    assert.equal(error.message, 'Some resources could not be released.');
    assert.deepEqual(error.errors.map(String), ['Error: b', 'Error: a']);
    return true;
  };
  assert.throws(() => store.dispose(), expected);
  store.dispose();
  const asynchronous = new AsyncDisposableStore();
  for (const name of ['a', 'b']) asynchronous.defer(failure(name));
  await assert.rejects(async () => asynchronous[Symbol.asyncDispose](), expected);
  await asynchronous[Symbol.asyncDispose]();
});

test('a store returns what is added to it, and an emitter that is disposed has no listeners', () => {
  const item = { dispose: () => {} };
  const store = new DisposableStore();
  assert.equal(store.add(item), item);
  const asynchronous = new AsyncDisposableStore();
  const other = { [Symbol.asyncDispose]: async () => {} };
  assert.equal(asynchronous.use(other), other);
  const emitter = new Emitter<number>();
  const seen: number[] = [];
  assert.equal(emitter.isEmpty, true);
  emitter.event((value) => void seen.push(value));
  emitter.event((value) => void seen.push(-value));
  assert.equal(emitter.isEmpty, false);
  emitter.fire(1);
  emitter.dispose();
  emitter.fire(2);
  assert.deepEqual([seen, emitter.isEmpty], [[1, -1], true]);
});

test('a wait that has ended listens no more', async () => {
  const emitter = new Emitter<void>();
  const stop = new AbortController();
  let checks = 0;
  const waiting = untilTrue(
    emitter.event,
    () => {
      checks += 1;
      return checks === 2;
    },
    stop.signal,
  );
  assert.equal(getEventListeners(stop.signal, 'abort').length, 1);
  emitter.fire();
  await waiting;
  emitter.fire();
  stop.abort();
  assert.deepEqual([checks, getEventListeners(stop.signal, 'abort').length], [2, 0]);
});
