import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DisposableStore, Emitter } from '../../../src/core/lifetime.ts';

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
