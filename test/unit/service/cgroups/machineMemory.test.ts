import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { freemem, totalmem } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { memoryGroups } from '../../../../src/service/cgroups/hierarchies.ts';
import { machineMemory } from '../../../../src/service/cgroups/machineMemory.ts';
import { temporaryFolder } from '../../workspace/temporaryFolder.ts';

/** Folders that stand for groups, by name. @returns what `machineMemory` takes for a process in the last of them. */
function groups(t: TestContext, version: 1 | 2, files: Readonly<Record<string, Readonly<Record<string, string>>>>) {
  const mountPoint = temporaryFolder(t);
  let own = '';
  for (const [group, texts] of Object.entries(files)) {
    own = group;
    mkdirSync(join(mountPoint, group), { recursive: true });
    for (const [name, text] of Object.entries(texts)) writeFileSync(join(mountPoint, group, name), text);
  }
  const line = version === 1 ? 'cgroup cgroup rw,memory' : 'cgroup2 cgroup2 rw';
  return memoryGroups({
    mounts: `30 24 0:26 / ${mountPoint} rw - ${line}\n`,
    groups: version === 1 ? `4:memory:/${own}\n` : `0::/${own}\n`,
  });
}

test('a unit with a limit has that much memory, less what its groups use but for pages of files that can go', (t) => {
  const own = groups(t, 2, {
    'unit.slice': {
      'memory.max': '1000000\n',
      'memory.current': '700000\n',
      'memory.stat': 'anon 1\ninactive_file 300000\n',
    },
    'unit.slice/service': { 'memory.max': 'max\n', 'memory.current': '5\n', 'memory.stat': '' },
  });
  assert.deepEqual(machineMemory(own), { total: 1_000_000, unused: 600_000 });
});

test('a container of version 1 has its limit', (t) => {
  const own = groups(t, 1, {
    docker: {
      'memory.limit_in_bytes': '2000000\n',
      'memory.usage_in_bytes': '2500000\n',
      'memory.stat': 'inactive_file 9\ntotal_inactive_file 100000\n',
    },
  });
  assert.deepEqual(machineMemory(own), { total: 2_000_000, unused: 0 });
});

test('without a limit there is what the machine has', (t) => {
  const own = groups(t, 1, {
    '.': { 'memory.limit_in_bytes': '9223372036854771712\n', 'memory.usage_in_bytes': '1\n', 'memory.stat': '' },
  });
  const { total, unused } = machineMemory(own);
  assert.equal(total, totalmem());
  assert.ok(unused <= total && freemem() > 0);
});
