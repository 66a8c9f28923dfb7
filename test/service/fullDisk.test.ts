import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, existsSync, mkdirSync, openSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { MarkedLineWriter } from '../../src/core/text/markedLines.ts';
import { processIdentity } from '../../src/core/processes/processTree.ts';
import { packService } from '../../src/machines/install/serviceBundle.ts';
import { connectEmbeddedService } from '../../src/service/embedded.ts';
import { jobFolder, writeMarker } from '../../src/service/jobFiles/jobFolder.ts';
import { readStateFile } from '../../src/service/stateFile.ts';
import { smallDisk } from '../smallDisk.ts';
import { Scratch, until } from './commandLine.ts';
import { addAccount } from './support/accounts.ts';
import { built } from './support/built.ts';
import { GATE, openGate } from './support/gate.ts';
import { jobsAtOnce } from './support/service.ts';
import { PROGRAM, ServiceProcess } from './support/serviceProcess.ts';

test('on a full disk accounts can still read their balance, and jobs continue once there is room, with all that they reported', async (t) => {
  const disk = smallDisk(t);
  if (disk === undefined) return;
  const config = { ...jobsAtOnce(1), retention: { min_free_gb: 0 } };
  const service = await ServiceProcess.start(disk.home, { config });
  t.after(() => service.end('SIGKILL'));
  const { client } = await addAccount(service.client, 'ada', { limits: { requests_per_minute: 10_000 } });
  const marked: string[] = [];
  new MarkedLineWriter((line) => marked.push(line)).write({ type: 'progress', run: 1, done: 5 });
  const reporting = { 'a.sh': `${GATE}; echo one; cat event; echo more`, event: marked.join('') };
  const [first, second] = [
    await service.client.submit(reporting, { script: 'a.sh' }),
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
  // The first job prints, reports an event of a flow and ends while there is no room for any of it.
  const { pid } = JSON.parse(readFileSync(jobFolder(join(client.data, 'jobs', first)).started, 'utf8')) as {
    pid: number;
  };
  await openGate(client.data, first);
  await until(() => processIdentity(pid) === undefined);
  disk.free();
  assert.equal((await service.client.untilEnd(first)).state, 'succeeded');
  assert.equal(await service.client.output(first), 'one\nmore\n');
  const reported = (await service.client.events(first)).filter(({ event }) => event === 'flow').map(({ data }) => data);
  assert.deepEqual(reported, [{ type: 'progress', run: 1, done: 5 }]);
  assert.equal((await service.client.untilEnd(second)).state, 'succeeded');
  assert.equal(await service.client.output(second), 'two\n');
});

test('a report that finds too little room is not there in part, leaves nothing, and is whole once there is room', async (t) => {
  const small = smallDisk(t);
  if (small === undefined) return;
  const path = join(small.disk, 'exit.json');
  const report = Array.from({ length: 2000 }, (_, index) => `line ${index}`);
  small.fill();
  small.freePages(1);
  for (let tries = 0; tries < 3; tries += 1) assert.throws(() => writeMarker(path, report), { code: 'ENOSPC' });
  assert.deepEqual(readdirSync(small.disk), ['filler']);
  small.free();
  writeMarker(path, report);
  assert.deepEqual(JSON.parse(readFileSync(path, 'utf8')), report);
});

test('a local service that finds a full disk says so, and starts once there is room', async (t) => {
  const small = smallDisk(t);
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
  const small = smallDisk(t);
  if (small === undefined) return;
  await using scratch = await Scratch.create();
  const folder = await scratch.folder('code', { 'a.sh': 'true' });
  small.fill();
  const submit = await scratch.run(['submit', folder, '--script', 'a.sh'], { env: { FARWHARF_HOME: small.home } });
  assert.notEqual(submit.exit, 0);
  assert.match(submit.stderr, /the disk .* is full\. Free some space/i);
  assert.doesNotMatch(submit.stderr, /it is empty|\n\s+at /);
});

test('the service of a machine over SSH runs although there is no room for its log', async (t) => {
  if (!existsSync('/dev/full')) return t.skip('NOT TESTED: no file here is always full');
  await using scratch = await Scratch.create();
  const program = await machineProgram(scratch);
  const root = await scratch.folder('root', {});
  const log = openSync('/dev/full', 'w');
  const child = spawn(process.execPath, [program, 'serve', root], { stdio: ['ignore', 'ignore', log] });
  const ended = once(child, 'exit');
  closeSync(log);
  t.after(() => child.kill('SIGKILL'));
  const state = join(root, 'home/service/state.json');
  await until(() => child.exitCode !== null || existsSync(state));
  // It has written that it has started before it stops.
  child.kill('SIGTERM');
  assert.equal(((await ended) as [number | null])[0], 0);
});

test('a machine over SSH whose full disk keeps its service from starting says what to do there', async (t) => {
  const small = smallDisk(t);
  if (small === undefined) return;
  await using scratch = await Scratch.create();
  const program = await machineProgram(scratch);
  const root = join(small.disk, 'root');
  mkdirSync(root, { mode: 0o700 });
  small.fill();
  const { stdout } = spawnSync(process.execPath, [program, 'attach', root, 'NONCE'], { encoding: 'utf8', input: '' });
  assert.ok(!existsSync(join(root, 'key')), 'no empty key is left');
  assert.match(
    stdout,
    /NONCE \{"error":"The disk that holds .*root\/home is full\. Free some space .* XDG_DATA_HOME there/,
  );
});

/** The program that is copied to machines. */
async function machineProgram(scratch: Scratch): Promise<string> {
  const folder = await scratch.folder('program', {});
  const { archive } = await packService(dirname(built('cli.mjs')));
  assert.equal(spawnSync('tar', ['-xzf', '-', '-C', folder], { input: archive }).status, 0);
  return join(folder, 'machineService.mjs');
}

/** Ends the service that a test started on demand. */
async function endEmbedded(home: string): Promise<void> {
  const state = readStateFile(join(home, 'service/state.json'));
  if (state === undefined || processIdentity(state.pid) === undefined) return;
  process.kill(state.pid, 'SIGTERM');
  while (processIdentity(state.pid) !== undefined) await sleep(20);
}

test('a job whose results find no buffer fails although its script did not, is charged, and loses nothing', async (t) => {
  const small = smallDisk(t);
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
