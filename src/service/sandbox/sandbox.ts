import { accessSync, lstatSync, readdirSync, readlinkSync, realpathSync, statSync } from 'node:fs';
import { sep } from 'node:path';
import { assertNever } from '../../core/errors.ts';
import { pathInside } from '../../core/files/pathInside.ts';
import type { Sandbox } from '../jobFiles/confinement.ts';
import type { JobFolder } from '../jobFiles/jobFolder.ts';
import { systemPaths } from './systemFolders.ts';

const KERNEL_FOLDERS: ReadonlySet<string> = new Set(
  '/proc/sys /proc/irq /proc/bus /proc/fs /proc/acpi /proc/scsi /proc/driver'.split(' '),
);
const ACCELERATORS = /^(?:nvidia.*|dri|kfd|infiniband)$/;

type Mount =
  | { readonly type: 'read-only' | 'writable' | 'device'; readonly source: string; readonly at: string }
  | { readonly type: 'link'; readonly source: string; readonly at: string }
  | { readonly type: 'empty' | 'proc' | 'dev'; readonly at: string };

/** The folders of a job that it alone uses: they take the places of the system's. */
export type SandboxFolders = Pick<
  JobFolder,
  'workspace' | 'virtualEnvironment' | 'requirements' | 'home' | 'temporary'
>;

/**
 * Options for bwrap: a file system of its own in which the system is read-only and the job's folders are the only ones of the
 * service, and process ids of its own, so that nothing outlives the first process.
 *
 * @param variables all that the program inside has. bwrap itself must be started with an empty environment, which
 * does the same as its option `--clearenv` and works with versions before 0.5 too.
 */
export function sandboxOptions(
  sandbox: Sandbox,
  folders: SandboxFolders,
  { cwd, variables }: { cwd: string; variables: Readonly<Record<string, string>> },
): readonly string[] {
  const mounts = mountsOf(sandbox, folders);
  return [
    '--die-with-parent',
    '--new-session',
    '--unshare-pid',
    '--unshare-ipc',
    '--unshare-uts',
    '--unshare-cgroup-try',
    ...(sandbox.hasNetwork ? [] : ['--unshare-net']),
    // Without a user namespace, which root does not need, root's powers must be given up; others have none to lose.
    ...(process.getuid?.() === 0 ? ['--cap-drop', 'ALL'] : []),
    ...mounts.flatMap(mountArguments),
    ...mounts.filter(({ type }) => type === 'empty').flatMap(({ at }) => ['--remount-ro', at]),
    '--remount-ro',
    '/',
    ...Object.entries(variables).flatMap(([name, value]) => ['--setenv', name, value]),
    '--chdir',
    cwd,
  ];
}

/** The folders of a search path in which a sandboxed job finds what is there outside. */
export function visibleSearchPath(sandbox: Sandbox, folders: SandboxFolders, searchPath: string): string {
  const mounts = mountsOf(sandbox, folders);
  return searchPath
    .split(':')
    .filter((folder) => isVisible(mounts, folder))
    .join(':');
}

/** Whether a path is the same file for the sandboxed job as it is outside. */
export function seesPath(sandbox: Sandbox, folders: SandboxFolders, path: string): boolean {
  return isVisible(mountsOf(sandbox, folders), path);
}

function isVisible(mounts: readonly Mount[], path: string): boolean {
  let real: string;
  try {
    real = realpathSync(path);
  } catch {
    return false;
  }
  const mount = mounts.findLast(({ at }) => pathInside(at, real) !== undefined);
  return mount !== undefined && 'source' in mount && mount.source === mount.at;
}

/** In an order in which no mount hides another that lies inside of it. */
function mountsOf(sandbox: Sandbox, folders: SandboxFolders): readonly Mount[] {
  const same = (type: 'read-only' | 'writable' | 'device') => (path: string) => ({ type, source: path, at: path });
  const system = systemPaths();
  const mounts: readonly Mount[] = [
    ...system.map((path) => (isLink(path) ? linkAgain(path) : same('read-only')(path))),
    ...nameServers(system).map(same('read-only')),
    { type: 'proc', at: '/proc' },
    ...kernelSettings().map(same('read-only')),
    { type: 'dev', at: '/dev' },
    ...accelerators().map(same('device')),
    ...['/tmp', '/var/tmp'].map((at): Mount => ({ type: 'writable', source: folders.temporary, at })),
    ...(sandbox.home === '/' ? [] : [{ type: 'writable', source: folders.home, at: sandbox.home } as const]),
    ...sandbox.readOnly.filter(exists).map(same('read-only')),
    ...sandbox.writable.map(same('writable')),
    // A service may have its data folder for its home, as systemd's users do: then the job's home hides it.
    ...(sandbox.home === sandbox.data ? [] : [{ type: 'empty', at: sandbox.data } as const]),
    ...sandbox.hidden.filter(exists).map(hide),
    ...[folders.workspace, folders.virtualEnvironment].map(same('writable')),
    ...[folders.requirements].filter(exists).map(same('read-only')),
  ];
  // Of two at the same place the later one counts, which a stable sort leaves below.
  return mounts.toSorted((a, b) => depth(a.at) - depth(b.at));
}

function mountArguments(mount: Mount): readonly string[] {
  switch (mount.type) {
    case 'read-only':
      return ['--ro-bind', mount.source, mount.at];
    case 'writable':
      return ['--bind', mount.source, mount.at];
    case 'device':
      return ['--dev-bind', mount.source, mount.at];
    case 'link':
      return ['--symlink', mount.source, mount.at];
    case 'empty':
      return ['--tmpfs', mount.at];
    case 'proc':
    case 'dev':
      return [`--${mount.type}`, mount.at];
    default:
      return assertNever(mount);
  }
}

/** Where links lead to: bwrap mounts nothing on a link, and what the link leads to could be read by its own name. */
function hide(path: string): Mount {
  const at = realpathSync(path);
  if (statSync(at).isDirectory()) return { type: 'empty', at };
  return { type: 'read-only', source: '/dev/null', at };
}

/** Where /etc/resolv.conf leads to, when that is outside of the system's folders. */
function nameServers(system: readonly string[]): readonly string[] {
  try {
    const real = realpathSync('/etc/resolv.conf');
    return system.some((folder) => pathInside(folder, real) !== undefined) ? [] : [real];
  } catch {
    return [];
  }
}

/**
 * What a job of root could change for the whole machine: the kernel lets the user root write there, whatever powers it gave up, and runs
 * the program that `core_pattern` names outside of all sandboxes. Other users may write none of it.
 */
function kernelSettings(): readonly string[] {
  if (process.getuid?.() !== 0) return [];
  return readdirSync('/proc', { withFileTypes: true })
    .filter((entry) => !/^\d+$/.test(entry.name) && !entry.isSymbolicLink())
    .map(({ name }) => `/proc/${name}`)
    .filter((path) => (statSync(path).mode & 0o200) !== 0 || KERNEL_FOLDERS.has(path));
}

function accelerators(): readonly string[] {
  return readdirSync('/dev')
    .filter((name) => ACCELERATORS.test(name))
    .map((name) => `/dev/${name}`);
}

function linkAgain(path: string): Mount {
  return { type: 'link', source: readlinkSync(path), at: path };
}

function isLink(path: string): boolean {
  return lstatSync(path).isSymbolicLink();
}

function exists(path: string): boolean {
  try {
    accessSync(path);
    return true;
  } catch {
    return false; // or it is out of reach, for jobs as for the service
  }
}

function depth(path: string): number {
  return path.split(sep).length;
}
