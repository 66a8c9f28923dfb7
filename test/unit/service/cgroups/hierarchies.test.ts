import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { findHierarchies } from '../../../../src/service/cgroups/hierarchies.ts';

/** Folders that stand for a file system of control groups: their files, by group. */
function mounted(t: TestContext, groups: Readonly<Record<string, Readonly<Record<string, string>>>>): string {
  const mountPoint = realpathSync(mkdtempSync(join(tmpdir(), 'farwharf-cgroups-')));
  t.after(() => rmSync(mountPoint, { recursive: true }));
  for (const [group, files] of Object.entries(groups)) {
    mkdirSync(join(mountPoint, group), { recursive: true });
    for (const [name, text] of Object.entries({ 'cgroup.procs': '', ...files })) {
      writeFileSync(join(mountPoint, group, name), text);
    }
  }
  return mountPoint;
}

const UNIT = 'system.slice/farwharf.service';
const INNER = { 'cgroup.type': 'domain\n', 'cgroup.controllers': 'cpuset cpu io memory pids\n' };

test('a unit with delegation makes the groups of jobs beside that of the service', (t) => {
  const mountPoint = mounted(t, { [UNIT]: INNER, [`${UNIT}/service`]: INNER });
  const mounts = `30 24 0:26 / ${mountPoint} rw,nosuid shared:9 - cgroup2 cgroup2 rw,nsdelegate\n`;
  assert.deepEqual(findHierarchies({ mounts, groups: `0::/${UNIT}/service\n` }), [
    {
      version: 2,
      controllers: ['pids', 'memory', 'cpu', 'cpuset'],
      mountPoint,
      own: join(mountPoint, UNIT, 'service'),
      base: join(mountPoint, UNIT),
    },
  ]);
});

test('a unit without delegation to a group of its own makes none, because limits and processes exclude each other', (t) => {
  const mountPoint = mounted(t, { [UNIT]: INNER });
  const mounts = `30 24 0:26 / ${mountPoint} rw - cgroup2 cgroup2 rw\n`;
  assert.deepEqual(findHierarchies({ mounts, groups: `0::/${UNIT}\n` }), []);
});

test('at the top of a machine, version 2 has no type and takes groups', (t) => {
  const mountPoint = mounted(t, { '.': { 'cgroup.controllers': '\n' } });
  const mounts = `30 24 0:26 / ${mountPoint} rw - cgroup2 cgroup2 rw\n`;
  assert.deepEqual(findHierarchies({ mounts, groups: '3:pids:/\n0::/\n' }), [
    { version: 2, controllers: [], mountPoint, own: mountPoint, base: mountPoint },
  ]);
});

test('in version 1, groups are made below the own one of each controller, and only of those that limit something', (t) => {
  const pids = mounted(t, { 'a/b': {} });
  const cpu = mounted(t, { '.': {} });
  const freezer = mounted(t, { '.': {} });
  const mounts = [
    `31 24 0:27 /a ${join(pids, 'a')} rw - cgroup cgroup rw,pids`,
    `32 24 0:28 / ${cpu} rw - cgroup cgroup rw,cpu,cpuacct`,
    `33 24 0:29 / ${freezer} rw - cgroup cgroup rw,freezer`,
    '34 24 0:30 / /elsewhere rw - tmpfs tmpfs rw',
  ].join('\n');
  const groups = '8:pids:/a/b\n4:cpu,cpuacct:/\n6:freezer:/\n';
  assert.deepEqual(
    findHierarchies({ mounts, groups }).map(({ version, controllers, base }) => ({ version, controllers, base })),
    [
      { version: 1, controllers: ['pids'], base: join(pids, 'a/b') },
      { version: 1, controllers: ['cpu'], base: cpu },
    ],
  );
});

test('a group that only its owner sees, outside of the mounted part, is not used', (t) => {
  const mountPoint = mounted(t, { '.': {} });
  const mounts = `31 24 0:27 /docker/a ${mountPoint} rw - cgroup cgroup rw,pids`;
  assert.deepEqual(findHierarchies({ mounts, groups: '8:pids:/other\n' }), []);
});
