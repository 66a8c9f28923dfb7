import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { networkFileSystemOf, refuseNetworkFileSystem } from '../../../../src/service/folders/networkFileSystem.ts';

const isLinux = process.platform === 'linux';

test('a folder of this machine is on no network file system, whether it exists or not', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'farwharf-local-'));
  t.after(() => rmSync(folder, { recursive: true }));
  assert.equal(networkFileSystemOf(folder), undefined);
  refuseNetworkFileSystem(join(folder, 'not', 'yet'));
});

test('the type of a mount is found by its device, also for a folder that does not exist yet', (t) => {
  if (!isLinux) return t.skip('NO MOUNTS: only Linux lists them in a file');
  const { dev } = statSync('/');
  const device = readFileSync('/proc/self/mountinfo', 'utf8')
    .split('\n')
    .find((line) => line.split(' ')[4] === '/')
    ?.split(' ')[2];
  assert.ok(device !== undefined && dev > 0);
  const mounts = (type: string): string =>
    `24 1 ${device} / / rw - ${type} server:/export rw\n25 24 0:5 / /proc rw - proc proc rw\n`;
  for (const type of ['nfs', 'nfs4', 'cifs', 'smb3', 'ceph', 'lustre', 'gpfs', 'beegfs', 'fuse.sshfs']) {
    assert.equal(networkFileSystemOf('/not/there/yet', mounts(type)), type);
  }
  for (const type of ['ext4', 'xfs', 'btrfs', 'overlay', 'tmpfs', 'zfs', 'fuse.ntfs-3g']) {
    assert.equal(networkFileSystemOf('/not/there/yet', mounts(type)), undefined);
  }
});
