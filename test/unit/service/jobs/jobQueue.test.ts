import assert from 'node:assert/strict';
import { test } from 'node:test';
import { JobQueue } from '../../../../src/service/jobs/jobQueue.ts';

const unlimited = (): number => Number.POSITIVE_INFINITY;

function fill(queue: JobQueue, account: string, count: number): void {
  for (let index = 0; index < count; index += 1)
    queue.add({ id: `${account}${index}`, account, machineClass: 'a', maxRuntime: 60 });
}

/** Takes the next job and counts it as one at work. */
function begin(queue: JobQueue, most: (account: string) => number = unlimited): string | undefined {
  const id = queue.take(most);
  if (id !== undefined) queue.noteAtWork(id.replace(/\d+$/, ''));
  return id;
}

test("a thousand jobs of one account delay another account's by one job", () => {
  const queue = new JobQueue();
  fill(queue, 'ada', 1_000);
  const order: (string | undefined)[] = [];
  for (let turn = 0; turn < 4; turn += 1) {
    // A machine that runs one job at a time.
    order.push(begin(queue));
    if (turn === 0) fill(queue, 'bob', 2);
    queue.release(turn === 0 ? 'ada' : String(order[turn]?.slice(0, 3)));
  }
  assert.deepEqual(order, ['ada0', 'bob0', 'ada1', 'bob1']);
});

test('room goes to the account with the fewest jobs at work', () => {
  const queue = new JobQueue();
  fill(queue, 'ada', 10);
  for (let count = 0; count < 3; count += 1) begin(queue);
  fill(queue, 'bob', 10);
  const order = [begin(queue), begin(queue), begin(queue), begin(queue)];
  assert.deepEqual(order, ['bob0', 'bob1', 'bob2', 'ada3']);
});

test('an account at its limit waits, and holds up nobody', () => {
  const queue = new JobQueue();
  fill(queue, 'ada', 5);
  fill(queue, 'bob', 1);
  const most = (account: string): number => (account === 'ada' ? 1 : 9);
  assert.deepEqual([begin(queue, most), begin(queue, most), begin(queue, most)], ['ada0', 'bob0', undefined]);
  queue.release('ada');
  assert.equal(begin(queue, most), 'ada1');
});

test('a job that the machine is kept for stays the next one, takes its place in the limit of its account, and changes nothing by being asked for', () => {
  const queue = new JobQueue();
  fill(queue, 'ada', 3);
  fill(queue, 'bob', 2);
  const most = (account: string): number => (account === 'ada' ? 1 : 9);
  const order = (firstVerdict: 'first' | 'waits'): string[] => {
    const jobs = queue.order(most);
    const seen: string[] = [];
    for (let next = jobs.next(); next.done !== true; next = jobs.next(seen.length === 1 ? firstVerdict : 'waits'))
      seen.push(next.value.id);
    return seen;
  };
  assert.deepEqual(order('waits'), ['ada0', 'ada1', 'ada2', 'bob0', 'bob1']);
  assert.deepEqual(order('first'), ['ada0', 'bob0', 'bob1'], 'no other job may take the only place of its account');
  const first = { id: 'bob1', account: 'bob', machineClass: 'a', maxRuntime: 60 };
  queue.keepFirst(first);
  assert.deepEqual(order('first'), ['bob1', 'ada0', 'ada1', 'ada2', 'bob0']);
  queue.remove(first);
  assert.deepEqual(order('first'), ['ada0', 'bob0']);
});
