import assert from 'node:assert/strict';
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { programsAreMissing } from '../../scripts/programs.ts';
import { Scratch } from './commandLine.ts';
import { startService, temporaryFolder } from './support/service.ts';

const SFTP_SERVER = '/usr/lib/openssh/sftp-server';

// A process of its own, because the service waits for some answers of its disks.
const SERVER = `const { spawn } = require('node:child_process');
const server = require('node:net').createServer((socket) => {
  const child = spawn(process.argv[1], { stdio: ['pipe', 'pipe', 'ignore'] });
  socket.pipe(child.stdin);
  child.stdout.pipe(socket);
  socket.on('error', () => child.kill());
});
server.listen(0, '127.0.0.1', () => console.log(server.address().port));`;

/** A folder on a network file system: of this machine, through a connection. */
async function mountedFolder(t: TestContext): Promise<string | { readonly missing: string }> {
  const missing = await programsAreMissing('sshfs', {
    programs: ['sshfs', SFTP_SERVER],
    packages: ['sshfs', 'openssh-sftp-server'],
  });
  if (missing !== undefined) return { missing };
  if (!existsSync('/dev/fuse')) return { missing: 'the kernel has no /dev/fuse' };
  let server: ChildProcess | undefined;
  const root = await temporaryFolder(t, async (folder) => {
    spawnSync('fusermount3', ['-uz', join(folder, 'mount')]);
    server?.kill();
  });
  const [exported, mount] = [join(root, 'export'), join(root, 'mount')];
  for (const path of [exported, mount]) mkdirSync(path);
  server = spawn(process.execPath, ['-e', SERVER, SFTP_SERVER], { stdio: ['ignore', 'pipe', 'inherit'] });
  const [port] = (await once(server.stdout ?? server, 'data')) as [Buffer];
  const directly = `directport=${port.toString().trim()}`;
  const child = spawn('sshfs', ['-o', directly, `127.0.0.1:${exported}`, mount], { stdio: 'ignore' });
  const [status] = (await once(child, 'exit')) as [number];
  return status === 0 ? mount : { missing: `sshfs ended with status ${status}` };
}

test('a data folder on a network file system is refused with the reason, by the start and by --check', async (t) => {
  const mount = await mountedFolder(t);
  if (typeof mount !== 'string') return t.skip(`NO NETWORK FILE SYSTEM: ${mount.missing}`);
  const data = join(mount, 'data');
  const says = /is on a network file system \(fuse\.sshfs\).*--data \/var\/lib\/farwharf/;
  await assert.rejects(startService(t, { data }), { code: 'refused', message: says });
  assert.deepEqual(readdirSync(mount), [], 'nothing is created there');
  await using scratch = await Scratch.create();
  const { exit, stderr } = await scratch.run(['serve', '--data', data, '--check']);
  assert.equal(exit, 1);
  assert.match(stderr, /PROBLEM {2}it is on a disk of this machine: The data folder .* is on a network file system/);
});
