import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { createLogger } from '../../../../src/core/log.ts';
import { startThread } from '../../../../src/core/rpc/rpcProgram.ts';
import { startBackground } from '../../../../src/extension/threads/background.ts';

const RPC = pathToFileURL(join(import.meta.dirname, '../../../../src/core/rpc/serveCalls.ts')).href;

type Service = {
  readonly counter: {
    add(): number;
    slow(): Promise<number>;
    poll(): number;
    follow(): Promise<void>;
    isNeeded(): boolean;
    hold(): void;
  };
};

function counterThread(t: TestContext, { afterMs, isNeeded }: { afterMs: number; isNeeded?: () => boolean }) {
  const folder = mkdtempSync(join(tmpdir(), 'farwharf-background-'));
  const program = join(folder, 'program.mjs');
  writeFileSync(
    program,
    `import { parentPort } from 'node:worker_threads';
     import { serveCalls } from '${RPC}';
     let [count, isHeld] = [0, false];
     const add = () => (count += 1);
     const slow = () => new Promise((resolve) => setTimeout(() => resolve(add()), 200));
     const follow = () => new Promise(() => {});
     serveCalls(parentPort, { counter: { add, slow, follow, poll: () => count, isNeeded: () => isHeld, hold: () => { isHeld = true; } } });`,
  );
  const background = startBackground<Service>({
    start: () => startThread(program, { name: 'counter' }),
    name: 'counter',
    log: createLogger(() => {}),
    lost: 'The counter stopped.',
    idle: {
      afterMs,
      isNeeded: isNeeded ?? (({ counter }) => counter.isNeeded()),
      passive: ['isNeeded', 'poll'],
      subscriptions: ['follow'],
    },
  });
  // The wait for idleness keeps no process alive.
  const alive = setInterval(() => {}, 1_000);
  t.after(async () => {
    clearInterval(alive);
    await background.end();
    rmSync(folder, { recursive: true });
  });
  return background;
}

async function untilStopped(background: { readonly isRunning: boolean }, poll: () => unknown = () => {}) {
  while (background.isRunning) {
    await poll();
    await sleep(2);
  }
}

test('a thread starts with the first call, stops when it is idle, and another starts with the next call', async (t) => {
  const background = counterThread(t, { afterMs: 20 });
  assert.equal(background.isRunning, false);
  assert.equal(await background.service.counter.add(), 1);
  assert.equal(background.isRunning, true);
  await untilStopped(background);
  assert.equal(await background.service.counter.add(), 1, 'the count of a new thread');
});

test('the idle time begins with the last call', async (t) => {
  const afterMs = 500;
  const background = counterThread(t, { afterMs, isNeeded: () => false });
  await background.service.counter.add();
  await sleep(afterMs / 5);
  const called = background.service.counter.add();
  // Both timers are of this thread, so that they fire in their order, however busy the machine is.
  const later = sleep(afterMs * 1.4);
  await called;
  await later;
  assert.equal(background.isRunning, false);
});

test('a poll does not keep an idle thread running, and is never interrupted', async (t) => {
  const background = counterThread(t, { afterMs: 20 });
  await background.service.counter.add();
  await untilStopped(background, () => background.service.counter.poll());
});

test('a call that takes longer than the idle time gets its result', async (t) => {
  const background = counterThread(t, { afterMs: 20 });
  assert.equal(await background.service.counter.slow(), 1);
});

test('a thread with state that is still needed keeps running', async (t) => {
  const background = counterThread(t, { afterMs: 5 });
  await background.service.counter.add();
  await background.service.counter.hold();
  for (let poll = 0; poll < 50; poll += 1) await background.service.counter.poll();
  await background.service.counter.slow();
  assert.equal(await background.service.counter.add(), 3, 'the count of the same thread');
});

test('a subscription keeps no idle thread running, and ends as aborted when the thread stops', async (t) => {
  const background = counterThread(t, { afterMs: 5 });
  await assert.rejects(background.service.counter.follow(), { name: 'AbortError' });
  assert.equal(background.isRunning, false);
});
