import assert from 'node:assert/strict';
import { readdir, readFile } from 'node:fs/promises';
import { constants, getPriority, tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { BuildThread } from '../../../../src/retrieval/index/buildThread.ts';
import { shareTasks } from '../../../../src/retrieval/index/sharedTasks.ts';

const PROGRAM = join(import.meta.dirname, '../../../../src/retrieval/index/indexWorker.ts');
const LOW = constants.priority.PRIORITY_BELOW_NORMAL;

/** The nice values of this process's threads, by their numbers. */
async function prioritiesOfThreads(): Promise<ReadonlyMap<number, number>> {
  const threads = await readdir('/proc/self/task');
  const stats = await Promise.all(threads.map((id) => readFile(`/proc/self/task/${id}/stat`, 'utf8')));
  // The name, in brackets, may have blanks; behind it nice is the seventeenth field (proc(5)).
  return new Map(stats.map((text, at) => [Number(threads[at]), Number(text.split(') ').at(-1)?.split(' ')[16])]));
}

test('a thread that builds gives way to all others of its process', async (t) => {
  if (process.platform !== 'linux') {
    t.skip('NOT TESTED: only Linux has priorities of threads');
    return;
  }
  if (getPriority() >= LOW) {
    t.skip(`NOT TESTED: this process runs with a priority of ${getPriority()} already`);
    return;
  }
  await using thread = new BuildThread(PROGRAM);
  await thread.caller.service.builder.build(tmpdir(), shareTasks([]), 1, join(tmpdir(), 'never-written.segment'));
  const priorities = await prioritiesOfThreads();
  assert.equal(priorities.get(process.pid), getPriority());
  assert.equal([...priorities.values()].filter((nice) => nice === LOW).length, 1, [...priorities].join(' '));
});
