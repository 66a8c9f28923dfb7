import { lstatSync, readdirSync, readlinkSync, realpathSync, statSync } from 'node:fs';
import { sep } from 'node:path';
import { systemCode } from '../../core/errors.ts';
import { pathInside } from '../../core/files/pathInside.ts';
import type { JobCgroup } from '../cgroups/jobCgroup.ts';
import type { Sandbox } from '../jobFiles/confinement.ts';
import type { JobFolder } from '../jobFiles/jobFolder.ts';
import { type JobVolume, placeInSandbox } from '../jobFiles/jobVolumes.ts';
import type { DebugFolder } from './debug/debugFolder.ts';
import { isAccessible } from '../../core/processes/findProgram.ts';

const KERNEL_FOLDERS: ReadonlySet<string> = new Set(
  '/proc/sys /proc/irq /proc/bus /proc/fs /proc/acpi /proc/scsi /proc/driver'.split(' '),
);
const CGROUPS = '/sys/fs/cgroup';
const INFINIBAND = '/dev/infiniband';
const ACCELERATORS = /^(?:nvidia.*|dri|kfd|infiniband)$/;

// Folders that contain programs. Not /run, whose sockets lead to daemons that would start processes outside; not /home, /var, /srv.
const FOLDERS = '/usr /bin /sbin /lib /lib32 /lib64 /libx32 /opt /sys /nix/store /gnu/store'.split(' ');

// The parts of /etc that programs need: names and addresses, certificates, the loader, time and language, interpreters, fonts,
// accelerators. Not the configurations of services, which contain passwords and keys.
const SETTINGS = [
  /^(?:passwd|group|nsswitch\.conf|hosts|host\.conf|hostname|resolv\.conf|gai\.conf|protocols|services|networks|rpc|machine-id|subuid|subgid)$/,
  /^(?:ssl|pki|ca-certificates(?:\.conf)?|crypto-policies|gnutls|gss|krb5\.conf(?:\.d)?)$/,
  /^(?:ld\.so\..*|alternatives|static|environment-modules|modulefiles|lmod)$/,
  /^(?:localtime|timezone|locale\..*|vconsole\.conf|inputrc|terminfo|.*-release|.*_version|issue|mtab|magic(?:\.mime)?|mime\.types)$/,
  /^(?:profile(?:\.d)?|bash\.?bashrc|bashrc|bash_completion(?:\.d)?|zsh|shells|login\.defs|skel|xdg|gitconfig|pip\.conf|npmrc|gemrc|wgetrc|nanorc|vim)$/,
  /^(?:python.*|perl|java.*|jvm.*|maven|R|julia|ruby.*|php|nodejs|matplotlibrc|jupyter|ipython|ImageMagick.*|fonts|sgml|xml|papersize)$/,
  /^(?:OpenCL|vulkan|glvnd|drirc|egl|cuda.*|nvidia.*|OpenBLAS|openmpi.*|mpich.*|libibverbs\.d|dat\.conf|rocm.*|ucx|X11)$/,
];

type Mount =
  /** `system`: a part of the system, which may have been removed or replaced by the time of the mount. */
  | {
      readonly type: 'read-only' | 'system' | 'writable' | 'device' | 'link';
      readonly source: string;
      readonly at: string;
    }
  | { readonly type: 'empty' | 'proc' | 'dev'; readonly at: string };

/** The options of bwrap. */
const MOUNT_OPTIONS: Readonly<Record<Mount['type'], string>> = {
  'read-only': '--ro-bind',
  system: '--ro-bind-try',
  writable: '--bind',
  device: '--dev-bind-try',
  link: '--symlink',
  empty: '--tmpfs',
  proc: '--proc',
  dev: '--dev',
};

/** The folder with a job's packages. One that other jobs use too is read-only. */
export interface PackagesMount {
  readonly path: string;
  readonly access: 'writable' | 'read-only';
}

/** The folders of a job, which take the place of the system's. */
export interface SandboxFolders extends Pick<JobFolder, 'workspace' | 'requirements' | 'home' | 'temporary'> {
  readonly packages: PackagesMount | undefined;
}

/**
 * Options for bwrap: a separate file system, in which the system is read-only and the job sees only its own folders of the service,
 * and separate process IDs, so that nothing outlives the first process.
 *
 * @param variables the complete environment of the program inside. bwrap itself must be started with none but the tag of the job, which is
 * equivalent to its option `--clearenv` and also works with versions before 0.5.
 */
export function sandboxOptions(
  sandbox: Sandbox,
  folders: SandboxFolders,
  {
    cwd,
    variables,
    volumes,
    cgroup = null,
    tunnelProgram,
    debugFolder,
  }: {
    cwd: string;
    variables: Readonly<Record<string, string>>;
    volumes?: readonly JobVolume[];
    cgroup?: JobCgroup | null;
    /** A file of ours that the sandbox sees too. */
    tunnelProgram?: string | undefined;
    debugFolder?: Pick<DebugFolder, 'path' | 'inside'> | undefined;
  },
): readonly string[] {
  const shown = tunnelProgram === undefined ? sandbox.readOnly : [...sandbox.readOnly, tunnelProgram];
  const mounts = mountsOf({ ...sandbox, readOnly: shown }, folders, volumes, cgroup, debugFolder);
  return [
    '--die-with-parent',
    '--new-session',
    '--unshare-pid',
    '--unshare-ipc',
    '--unshare-uts',
    '--unshare-cgroup-try',
    ...(sandbox.hasNetwork ? [] : ['--unshare-net']),
    // Root needs no user namespace, so its capabilities must be dropped; other users have none.
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

/** The folders of a search path whose contents a sandboxed job sees too. */
export function visibleSearchPath(sandbox: Sandbox, folders: SandboxFolders, searchPath: string): string {
  const mounts = mountsOf(sandbox, folders);
  return searchPath
    .split(':')
    .filter((folder) => isVisible(mounts, folder))
    .join(':');
}

/** Whether a path is the same file for the sandboxed job as outside. */
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

/** Ordered so that no mount hides another one inside it. */
function mountsOf(
  sandbox: Sandbox,
  folders: SandboxFolders,
  volumes: readonly JobVolume[] = [],
  cgroup: JobCgroup | null = null,
  debugFolder?: Pick<DebugFolder, 'path' | 'inside'>,
): readonly Mount[] {
  const same = (type: 'read-only' | 'writable' | 'device') => (path: string) => ({ type, source: path, at: path });
  const system = systemPaths();
  const mounts: readonly Mount[] = [
    ...system.flatMap(systemMount),
    ...nameServers(system).map(same('read-only')),
    { type: 'proc', at: '/proc' },
    ...kernelSettings().map(same('read-only')),
    { type: 'dev', at: '/dev' },
    ...accelerators(sandbox.accelerators).map(same('device')),
    ...ownCgroup(cgroup),
    ...['/tmp', '/var/tmp'].map((at): Mount => ({ type: 'writable', source: folders.temporary, at })),
    ...(sandbox.home === '/' ? [] : [{ type: 'writable', source: folders.home, at: sandbox.home } as const]),
    ...sandbox.readOnly.filter(isReadable).map(same('read-only')),
    ...sandbox.writable.map(same('writable')),
    // If the service's home is its data folder, as with systemd's users, the job's home hides it.
    ...(sandbox.home === sandbox.data ? [] : [{ type: 'empty', at: sandbox.data } as const]),
    ...sandbox.hidden.filter(isReadable).map(hide),
    ...volumes.map(
      (volume): Mount => ({
        type: volume.isWritable ? 'writable' : 'read-only',
        source: volume.realFolder,
        at: placeInSandbox(volume),
      }),
    ),
    same('writable')(folders.workspace),
    ...(debugFolder === undefined
      ? []
      : [{ type: 'writable', source: debugFolder.path, at: debugFolder.inside } as const]),
    ...(folders.packages === undefined ? [] : [same(folders.packages.access)(folders.packages.path)]),
    ...[folders.requirements].filter(isReadable).map(same('read-only')),
  ];
  // The later of two mounts at the same place wins, and a stable sort keeps their order.
  return mounts.toSorted((a, b) => depth(a.at) - depth(b.at));
}

function mountArguments(mount: Mount): readonly string[] {
  const source = 'source' in mount ? [mount.source] : [];
  return [MOUNT_OPTIONS[mount.type], ...source, mount.at];
}

/** Hides a link's target: bwrap mounts nothing on a link, and the target could be read under its own name. */
function hide(path: string): Mount {
  const at = realpathSync(path);
  if (statSync(at).isDirectory()) return { type: 'empty', at };
  return { type: 'read-only', source: '/dev/null', at };
}

/** Shows a job its own control group, by which programs find out how much memory they have, and no other job's. */
function ownCgroup(cgroup: JobCgroup | null): readonly Mount[] {
  if (cgroup === null) return [];
  const own = cgroup.folders.map(
    ({ path, mountPoint }): Mount => ({ type: 'read-only', source: path, at: mountPoint }),
  );
  return own.some(({ at }) => at === CGROUPS) ? own : [{ type: 'empty', at: CGROUPS }, ...own];
}

/** The target of /etc/resolv.conf, if that is outside the system's folders. */
function nameServers(system: readonly string[]): readonly string[] {
  try {
    const real = realpathSync('/etc/resolv.conf');
    return system.some((folder) => pathInside(folder, real) !== undefined) ? [] : [real];
  } catch {
    return [];
  }
}

/**
 * What a job of root could change for the whole machine: the kernel lets root write there, whatever capabilities it dropped, and runs
 * the program that `core_pattern` names outside all sandboxes. Other users cannot write any of it.
 */
function kernelSettings(): readonly string[] {
  if (process.getuid?.() !== 0) return [];
  // Nothing is read of the folders of processes, which may have ended.
  return readdirSync('/proc')
    .filter((name) => !/^\d+$/.test(name))
    .map((name) => `/proc/${name}`)
    .filter((path) => !isLink(path))
    .filter((path) => (statSync(path).mode & 0o200) !== 0 || KERNEL_FOLDERS.has(path));
}

/** @param own the GPUs of the job; all of the machine if undefined. */
function accelerators(own: readonly string[] | undefined): readonly string[] {
  const all = readdirSync('/dev')
    .filter((name) => ACCELERATORS.test(name))
    .map((name) => `/dev/${name}`);
  if (own === undefined) return all;
  return [...all.filter((path) => path === INFINIBAND), ...own.filter(isReadable)];
}

/** Nothing for what was removed since it was listed, as programs that install packages do. */
function systemMount(path: string): readonly Mount[] {
  try {
    return [
      isLink(path)
        ? { type: 'link', source: readlinkSync(path), at: path }
        : { type: 'system', source: path, at: path },
    ];
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return [];
    throw error;
  }
}

function isLink(path: string): boolean {
  return lstatSync(path).isSymbolicLink();
}

function depth(path: string): number {
  return path.split(sep).length;
}

/** The existing paths of the system that every isolated job can read. */
function systemPaths(): readonly string[] {
  return [...FOLDERS, ...settings()].filter(isReadable);
}

function settings(): readonly string[] {
  return namesIn('/etc')
    .filter((name) => SETTINGS.some((pattern) => pattern.test(name)))
    .map((name) => `/etc/${name}`);
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

/** Whether jobs may see a path: what the service cannot access, they cannot either. */
function isReadable(path: string): boolean {
  return isAccessible(path);
}
