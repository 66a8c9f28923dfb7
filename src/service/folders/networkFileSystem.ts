import { existsSync, readFileSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { AppError } from '../../core/errors.ts';

const MOUNTS = '/proc/self/mountinfo';
const NETWORK =
  /^(?:nfs\d?|cifs|smb\d?|smbfs|ncpfs|afs|coda|ceph|lustre|gpfs|beegfs|orangefs|pvfs2|fuse\.(?:sshfs|ceph(?:-fuse)?|glusterfs|davfs2?|rclone|s3fs|gcsfuse|goofys|mfs|juicefs|cvmfs2))$/;

/**
 * The type of the network file system that contains a path, such as `nfs4`; undefined if the path is on a disk of this machine, or on a
 * system that does not list its mounts.
 *
 * @param path may not exist yet; then the nearest folder above it counts.
 * @param mounts in the form of `/proc/self/mountinfo` (proc_pid_mountinfo(5)).
 */
export function networkFileSystemOf(path: string, mounts: string = readMounts()): string | undefined {
  const device = deviceOf(path);
  for (const line of mounts.split('\n')) {
    const [mount = '', fileSystem = ''] = line.split(' - ');
    const type = fileSystem.split(' ')[0] ?? '';
    if (mount.split(' ')[2] === device && NETWORK.test(type)) return type;
  }
  return undefined;
}

/** @throws AppError `refused` for a folder on a network file system. */
export function refuseNetworkFileSystem(data: string): void {
  const type = networkFileSystemOf(data);
  if (type === undefined) return;
  const message = `The data folder ${data} is on a network file system (${type}). Its locks and its order of writes are not reliable, so two services could use the database at once, or a lost connection could damage it. Choose a folder on a disk of this machine, for example:  --data /var/lib/farwharf`;
  throw new AppError('refused', message);
}

function readMounts(): string {
  return existsSync(MOUNTS) ? readFileSync(MOUNTS, 'utf8') : '';
}

/** As `major:minor`, decoded as in glibc. */
function deviceOf(path: string): string {
  let existing = resolve(path);
  while (!existsSync(existing) && existing !== dirname(existing)) existing = dirname(existing);
  const { dev } = statSync(existing, { bigint: true });
  const major = ((dev >> 8n) & 0xfffn) | ((dev >> 32n) & ~0xfffn);
  const minor = (dev & 0xffn) | ((dev >> 12n) & ~0xffn & 0xffffffffn);
  return `${major}:${minor}`;
}
