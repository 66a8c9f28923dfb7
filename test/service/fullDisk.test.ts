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
import { setTimeout as sleep } from 'node:timers/promises';
import { processIdentity } from '../../src/core/processTree.ts';
import { connectEmbeddedService } from '../../src/service/embedded.ts';
import { jobFolder, writeMarker } from '../../src/service/runner/jobFolder.ts';
import { readStateFile } from '../../src/service/stateFile.ts';
import { Scratch, until } from './commandLine.ts';
import { addAccount } from './support/accounts.ts';
import { GATE, openGate } from './support/gate.ts';
import { jobsAtOnce, temporaryFolder } from './support/service.ts';
import { PROGRAM, ServiceProcess } from './support/serviceProcess.ts';

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
    await service.client.submit({ 'a.sh': `${GATE}; echo one` }, { script: 'a.sh' }),
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
  // The first job ends while there is no room for its report.
  const { pid } = JSON.parse(readFileSync(jobFolder(join(client.data, 'jobs', first)).started, 'utf8')) as {
    pid: number;
  };
  openGate(client.data, first);
  await until(() => processIdentity(pid) === undefined);
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

test('a local service that finds a full disk says so, and starts once there is room', async (t) => {
  const small = await smallDisk(t);
  if (small === undefined) return;
  const { home } = small;
  const options = { home, node: process.execPath, cli: PROGRAM };
  t.after(() => endEmbedded(home));
  const refusal = { code: 'no-space', message: /did not start: the disk that holds .*home is full\. Free some space/ };
  small.fill();
  await assert.rejects(connectEmbeddedService(options), refusal, 'where there was none before');
  small.free();
  await connectEmbeddedService(options);
  await endEmbedded(home);
  small.fill();
  await assert.rejects(connectEmbeddedService(options), refusal, 'where its files are already');
  small.free();
  assert.match((await connectEmbeddedService(options)).url, /^http:/);
});

test('the command line on a full disk says in one line that it is full', async (t) => {
  const small = await smallDisk(t);
  if (small === undefined) return;
  await using scratch = await Scratch.create();
  const folder = await scratch.folder('code', { 'a.sh': 'true' });
  small.fill();
  const submit = await scratch.run(['submit', folder, '--script', 'a.sh'], { env: { FARWHARF_HOME: small.home } });
  assert.notEqual(submit.exit, 0);
  assert.match(submit.stderr, /the disk .* is full\. Free some space/i);
  assert.doesNotMatch(submit.stderr, /it is empty|\n\s+at /);
});

/** Ends the service that a test started on demand. */
async function endEmbedded(home: string): Promise<void> {
  const state = readStateFile(join(home, 'service/state.json'));
  if (state === undefined || processIdentity(state.pid) === undefined) return;
  process.kill(state.pid, 'SIGTERM');
  while (processIdentity(state.pid) !== undefined) await sleep(20);
}

test('a job whose results find no room fails although its script did not, is charged, and loses nothing', async (t) => {
  const small = await smallDisk(t);
  if (small === undefined) return;
  const config = { ...jobsAtOnce(1), retention: { min_free_gb: 0 } };
  const service = await ServiceProcess.start(small.home, { config });
  t.after(() => service.end('SIGKILL'));
  // There is room for it once, and not a second time in the archive.
  const id = await service.client.submit({ 'a.sh': 'head -c 13000000 /dev/urandom > weights' }, { script: 'a.sh' });
  const job = await service.client.untilEnd(id);
  assert.deepEqual([job.state, job.exit_code], ['failed', 0], job.reason ?? '');
  assert.match(
    job.reason ?? '',
    /^The results could not be packed: The disk is full.* The script itself exited with status 0\.$/,
  );
  assert.ok((job.credits_charged ?? 0) > 0);
  const events = await service.client.events(id);
  assert.deepEqual(
    events.slice(-2).map(({ event, data }) => [event, data['state']]),
    [
      ['state', 'failed'],
      ['end', 'failed'],
    ],
  );
  assert.match(await service.client.output(id, 'stderr'), /could not be packed: The disk is full/);
  const response = await service.client.request(`/v1/jobs/${id}/artifacts`);
  assert.equal(response.status, 404);
  assert.match(((await response.json()) as { detail: string }).detail, /could not be packed: The disk is full/);
  const workspace = /still in (\S+) on the machine/.exec(job.reason ?? '')?.[1] ?? '';
  assert.equal(statSync(join(workspace, 'weights')).size, 13_000_000);
});
