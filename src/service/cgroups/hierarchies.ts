// Finds where this process may make control groups: cgroups(7).
import { accessSync, constants, existsSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import { readText } from '../../core/processes/procfs.ts';

const USED = ['pids', 'memory', 'cpu', 'cpuset'] as const;
// The name that `DelegateSubgroup=` of the unit gives to the group of the service itself.
const SERVICE_GROUP = 'service';

export type Controller = (typeof USED)[number];

/** A tree of control groups. Version 1 has one for each controller, version 2 a single one. */
export interface Hierarchy {
  readonly version: 1 | 2;
  /** Those that limit processes in it, of the ones that are used here; possibly none. */
  readonly controllers: readonly Controller[];
  readonly mountPoint: string;
  /** The group of this process. */
  readonly own: string;
  /** The group in which those of jobs may be made. */
  readonly base: string;
}

/** A group by its folder. */
export interface MemoryGroup extends Pick<Hierarchy, 'version'> {
  readonly path: string;
}

interface Mount {
  readonly version: 1 | 2;
  readonly root: string;
  readonly mountPoint: string;
  /** Of version 1. */
  readonly controllers: readonly string[];
}

/**
 * The hierarchies in which this process may make groups for jobs. In version 1 those are below its own group. In version 2, a group with
 * limits for its children has no processes itself, so they are beside its own group: below the root of the machine, or where a unit with
 * `Delegate=` and `DelegateSubgroup=service` puts them.
 *
 * @param texts of proc(5): `mountinfo` and `cgroup` of this process.
 */
export function findHierarchies(texts = ownTexts()): readonly Hierarchy[] {
  return ownGroups(texts).flatMap(({ mount, group }) => {
    const base = mount.version === 1 ? group : baseBeside(group);
    if (base === undefined || !isWritable(base)) return [];
    const controllers =
      mount.version === 1 ? mount.controllers : readText(join(base, 'cgroup.controllers')).trim().split(' ');
    const used = USED.filter((each) => controllers.includes(each));
    if (mount.version === 1 && used.length === 0) return [];
    return [{ version: mount.version, controllers: used, mountPoint: mount.mountPoint, own: group, base }];
  });
}

/**
 * The groups whose limits of memory apply to this process: its own, and all above it.
 *
 * @param texts as for `findHierarchies`.
 */
export function memoryGroups(texts = ownTexts()): readonly MemoryGroup[] {
  return ownGroups(texts).flatMap(({ mount, group }) => {
    const { version, mountPoint, controllers } = mount;
    if (version === 1 && !controllers.includes('memory')) return [];
    const steps = relative(mountPoint, group).split('/').filter(Boolean);
    return [mountPoint, ...steps.map((_, index) => join(mountPoint, ...steps.slice(0, index + 1)))].map((path) => ({
      version,
      path,
    }));
  });
}

function ownTexts(): { readonly mounts: string; readonly groups: string } {
  return { mounts: readText('/proc/self/mountinfo'), groups: readText('/proc/self/cgroup') };
}

function ownGroups({ mounts, groups }: ReturnType<typeof ownTexts>) {
  return mounts.split('\n').flatMap((line) => {
    const mount = mountOf(line);
    const group = mount && ownGroup(mount, groups);
    return mount === undefined || group === undefined ? [] : [{ mount, group }];
  });
}

/** A line of `mountinfo`: fixed fields, optional ones, a dash, type, source, options. */
function mountOf(line: string): Mount | undefined {
  const [place = '', kind = ''] = line.split(' - ');
  const [, , , root, mountPoint] = place.split(' ');
  const [type, , options = ''] = kind.split(' ');
  if (root === undefined || mountPoint === undefined) return undefined;
  if (type !== 'cgroup' && type !== 'cgroup2') return undefined;
  return { version: type === 'cgroup' ? 1 : 2, root, mountPoint, controllers: options.split(',') };
}

/** A line of `cgroup` is `number:controllers:path`; the one of version 2 has no controllers. */
function ownGroup({ version, root, mountPoint, controllers }: Mount, groups: string): string | undefined {
  for (const line of groups.split('\n')) {
    const [, names, path] = /^\d+:([^:]*):(.*)$/.exec(line) ?? [];
    if (names === undefined || path === undefined) continue;
    const isIt =
      version === 2 ? names === '' : names !== '' && names.split(',').every((name) => controllers.includes(name));
    const inside = isIt ? relative(root, path) : '..';
    if (!inside.startsWith('..')) return join(mountPoint, inside);
  }
  return undefined;
}

function baseBeside(group: string): string | undefined {
  // The root of the machine has no type, and is the only group that may have processes beside limits.
  if (!existsSync(join(group, 'cgroup.type'))) return group;
  return basename(group) === SERVICE_GROUP ? dirname(group) : undefined;
}

function isWritable(folder: string): boolean {
  try {
    for (const path of [folder, join(folder, 'cgroup.procs')]) accessSync(path, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}
