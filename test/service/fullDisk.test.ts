import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import {
  appendFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { writeMarker } from '../../src/service/runner/jobFolder.ts';
import { addAccount } from './support/accounts.ts';
import { jobsAtOnce, temporaryFolder } from './support/service.ts';
import { ServiceProcess } from './support/serviceProcess.ts';

/** A disk of its own for a test, which can be filled; undefined where none can be mounted, which the test then says. */
async function smallDisk(t: TestContext) {
  const base = await temporaryFolder(t, async (folder) => void spawnSync('umount', ['-l', join(folder, 'disk')]));
  const disk = join(base, 'disk');
  mkdirSync(disk);
  const mount = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=24m', 'tmpfs', disk], { encoding: 'utf8' });
  if (mount.status !== 0) {
    t.skip(`NOT TESTED: no small disk can be mounted here: ${mount.stderr || String(mount.error)}`);
    return undefined;
  }
  const filler = join(disk, 'filler');
  const fill = (): void => {
    writeFileSync(filler, '');
    const piece = Buffer.alloc(4096);
    assert.throws(() => {
      for (;;) appendFileSync(filler, piece);
    }, /ENOSPC/);
  };
  const freePage = (): void => truncateSync(filler, statSync(filler).size - 4096);
  return { disk, home: join(disk, 'home'), fill, freePage, free: () => rmSync(filler) };
}

test('on a full disk accounts are still told what they have, and jobs go on once there is room', async (t) => {
  const disk = await smallDisk(t);
  if (disk === undefined) return;
  const config = { ...jobsAtOnce(1), retention: { min_free_gb: 0 } };
  const service = await ServiceProcess.start(disk.home, { config });
  t.after(() => service.end('SIGKILL'));
  const { client } = await addAccount(service.client, 'ada', { limits: { requests_per_minute: 10_000 } });
  const [first, second] = [
    await service.client.submit({ 'a.sh': 'sleep 1; echo one' }, { script: 'a.sh' }),
    await service.client.submit({ 'a.sh': 'echo two' }, { script: 'a.sh' }),
  ];
  await service.client.untilRunning(first);
  disk.fill();
  // More often than wrong keys may come: when the key was used cannot be noted, which is no fault of the key.
  for (let count = 0; count < 40; count += 1) {
    const response = await client.request('/v1/me');
    assert.equal(response.status, 200, await response.text());
  }
  assert.equal((await client.send({ 'a.sh': 'true' }, { script: 'a.sh' })).status, 507);
  disk.free();
  assert.equal((await service.client.untilEnd(first)).state, 'succeeded');
  assert.equal((await service.client.untilEnd(second)).state, 'succeeded');
  assert.equal(await service.client.output(second), 'two\n');
});

test('a report that finds too little room is not there in part, leaves nothing, and is whole once there is room', async (t) => {
  const small = await smallDisk(t);
  if (small === undefined) return;
  const path = join(small.disk, 'exit.json');
  const report = Array.from({ length: 2000 }, (_, index) => `line ${index}`);
  small.fill();
  small.freePage();
  for (let tries = 0; tries < 3; tries += 1) assert.throws(() => writeMarker(path, report), { code: 'ENOSPC' });
  assert.deepEqual(readdirSync(small.disk), ['filler']);
  small.free();
  writeMarker(path, report);
  assert.deepEqual(JSON.parse(readFileSync(path, 'utf8')), report);
});
