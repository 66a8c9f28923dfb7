import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import {
  cgroupUsage,
  type GroupFolder,
  killCgroup,
  limitHits,
  processesOf,
} from '../../../../src/service/cgroups/jobCgroup.ts';

function folderOf(
  t: TestContext,
  version: 1 | 2,
  controllers: GroupFolder['controllers'],
  files: Readonly<Record<string, string>>,
): GroupFolder {
  const path = mkdtempSync(join(tmpdir(), 'farwharf-cgroup-'));
  t.after(() => rmSync(path, { recursive: true }));
  for (const [name, text] of Object.entries(files)) writeFileSync(join(path, name), text);
  return { version, controllers, path, outside: path, mountPoint: path };
}

test('a process that is just ending has the ID 0 in its group, which is nobody to signal', async (t) => {
  const folder = folderOf(t, 2, ['pids'], { 'cgroup.procs': `0\n${process.pid}\n`, 'pids.max': '7' });
  const group = { folders: [folder], maxProcesses: 7 };
  assert.deepEqual(processesOf(group), []);
  assert.equal(await killCgroup(group), true);
  assert.equal(readFileSync(join(folder.path, 'cgroup.kill'), 'utf8'), '1');
  assert.equal(readFileSync(join(folder.path, 'pids.max'), 'utf8'), '7');
});

test('the kernel counts what it refused and measured, in the words of either version', (t) => {
  const two = folderOf(t, 2, ['pids', 'memory'], {
    'pids.events': 'max 3\n',
    'memory.events': 'low 0\noom 1\noom_kill 1\n',
    'memory.stat': 'anon 100\nfile 5000\nshmem 20\n',
    'cpu.stat': 'usage_usec 1500000\nuser_usec 1\n',
  });
  const second = { folders: [two], maxProcesses: 7 };
  assert.deepEqual(limitHits(second), { processes: true, memory: true });
  assert.deepEqual(cgroupUsage(second), { cpuSeconds: 1.5, usedMemory: 120 });
  const pids = folderOf(t, 1, ['pids'], { 'pids.events': 'max 0\n' });
  const memory = folderOf(t, 1, ['memory'], {
    'memory.oom_control': 'oom_kill_disable 0\nunder_oom 0\noom_kill 0\n',
    'memory.stat': 'total_cache 5000\ntotal_rss 100\ntotal_shmem 20\n',
  });
  const first = { folders: [pids, memory], maxProcesses: 7 };
  assert.deepEqual(limitHits(first), { processes: false, memory: false });
  assert.deepEqual(cgroupUsage(first), { cpuSeconds: undefined, usedMemory: 120 });
});
