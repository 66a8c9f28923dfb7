import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, rmSync, statSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { writeBackup } from '../../src/service/folders/writeBackup.ts';
import { jobFolder } from '../../src/service/jobFiles/jobFolder.ts';
import { Store } from '../../src/service/store/store.ts';
import { readArchive } from './support/archive.ts';
import { type ServiceClient, startService, temporaryFolder } from './support/service.ts';

// What a job can do that is not isolated: it is the service's own user, and its files lie in the folder above its own.
const SECRET = 'a secret of the machine that serves\n';

async function secretFolder(t: TestContext): Promise<string> {
  const folder = join(await temporaryFolder(t), 'secrets');
  await mkdir(folder);
  await writeFile(join(folder, 'secret'), SECRET);
  return folder;
}

async function eventsAndResults(service: ServiceClient, id: string): Promise<string> {
  const events = JSON.stringify(await service.events(id));
  const response = await service.request(`/v1/jobs/${id}/artifacts`);
  const body = new Uint8Array(await response.arrayBuffer());
  return events + (response.ok ? JSON.stringify(await readArchive(body)) : Buffer.from(body).toString());
}

for (const [file, put] of [
  ['output.ndjson', 'link'],
  ['exit.json', 'link'],
  ['manifest.json', 'link'],
  ['claim.json', 'link'],
  ['exit.json', 'pipe'],
  ['manifest.json', 'pipe'],
  ['claim.json', 'pipe'],
] as const) {
  test(`a job that puts a ${put} in the place of ${file} learns nothing, and harms no other`, async (t) => {
    const service = await startService(t);
    const folder = await secretFolder(t);
    const make = put === 'pipe' ? 'mkfifo ../x' : `ln -s ${folder}/secret ../x`;
    const script = `echo begun; sleep 0.3; ${make}; mv -f ../x ../${file}; sleep 0.3; exit 3`;
    const id = await service.submit({ 'a.sh': script }, { script: 'a.sh' });
    const job = await service.untilEnd(id);
    assert.ok(['lost', 'failed'].includes(job.state), job.state);
    assert.doesNotMatch(await eventsAndResults(service, id), /a secret/);
    const next = await service.submit({ 'a.sh': 'echo next' }, { script: 'a.sh' });
    assert.equal((await service.untilEnd(next)).state, 'succeeded');
  });
}

test('a job that puts a link in the place of its folder brings back nothing from where that leads', async (t) => {
  const service = await startService(t);
  const folder = await secretFolder(t);
  const id = await service.submit({ 'a.sh': `mv ../workspace ../x; ln -s ${folder} ../workspace` }, { script: 'a.sh' });
  const job = await service.untilEnd(id);
  assert.equal(job.state, 'failed');
  assert.match(job.reason ?? '', /could not be packed.*workspace was changed/);
  assert.doesNotMatch(await eventsAndResults(service, id), /a secret/);
});

test('a job that puts a link in the place of its whole folder has nothing removed where that leads', async (t) => {
  const service = await startService(t);
  const folder = await secretFolder(t);
  mkdirSync(join(folder, 'workspace'));
  writeFileSync(join(folder, 'workspace', 'another'), SECRET);
  // Beside packed results, what a job leaves is removed.
  writeFileSync(join(folder, 'results.tar.gz'), '');
  const script = `here=$(cd .. && pwd); cd /; mv "$here" "$here.away"; ln -s ${folder} "$here"`;
  const id = await service.submit({ 'a.sh': script }, { script: 'a.sh' });
  const job = await service.untilEnd(id);
  assert.notEqual(job.state, 'succeeded');
  assert.doesNotMatch(await eventsAndResults(service, id), /a secret/);
  await service.stop();
  // What a start removes, it removes from its own folder.
  await (await startService(t, { data: service.data })).stop();
  assert.equal(readFileSync(join(folder, 'secret'), 'utf8'), SECRET);
  assert.equal(readFileSync(join(folder, 'workspace', 'another'), 'utf8'), SECRET);
});

test('a job that removes its claim is ended, and nobody has cancelled it', async (t) => {
  const service = await startService(t);
  const id = await service.submit({ 'a.sh': 'rm ../claim.json; sleep 600' }, { script: 'a.sh' });
  const job = await service.untilEnd(id);
  assert.ok(['lost', 'failed'].includes(job.state), job.state);
});

for (const [moment, script] of [
  ['at once', 'rm -rf "$here"'],
  ['later', 'sleep 1.5; rm -rf "$here"; sleep 0.5'],
] as const) {
  test(`a job that removes its whole folder ${moment} ends, and the next one runs`, async (t) => {
    const service = await startService(t);
    const id = await service.submit({ 'a.sh': `here=$(cd .. && pwd); cd /; ${script}` }, { script: 'a.sh' });
    const job = await service.untilEnd(id);
    assert.ok(['lost', 'failed'].includes(job.state), job.state);
    assert.match(job.reason ?? '', /could not be packed, because the files of the job were removed/);
    const next = await service.submit({ 'a.sh': 'echo next' }, { script: 'a.sh' });
    assert.equal((await service.untilEnd(next)).state, 'succeeded');
  });
}

test('a job whose folder is removed while no service runs ends with the next one', async (t) => {
  const first = await startService(t);
  const id = await first.submit({ 'a.sh': 'echo begun; sleep 600' }, { script: 'a.sh' });
  await first.untilRunning(id);
  await first.stop();
  rmSync(join(first.data, 'jobs', id), { recursive: true });
  const second = await startService(t, { data: first.data });
  const job = await second.untilEnd(id);
  assert.ok(['lost', 'failed'].includes(job.state), job.state);
  assert.match(job.reason ?? '', /The folder of the job was removed/);
});

test("a link in the place of the folder of all jobs has nothing removed where it leads, as the service's store", async (t) => {
  const { data, stop } = await startService(t);
  await stop();
  const elsewhere = await temporaryFolder(t);
  new Store(elsewhere).dispose();
  for (const name of ['jobs', 'uploads']) {
    rmSync(join(data, name), { recursive: true });
    symlinkSync(elsewhere, join(data, name));
  }
  const past = new Date(Date.now() - 30 * 24 * 3_600_000);
  utimesSync(join(elsewhere, 'service.db'), past, past);
  const again = await startService(t, { data }).catch(() => undefined);
  await again?.stop();
  assert.ok(existsSync(join(elsewhere, 'service.db')));
});

test('a cancellation empties no file that a job has linked to, and reaches the job', async (t) => {
  const service = await startService(t);
  const folder = await secretFolder(t);
  for (const target of ['secret', 'missing']) {
    const id = await service.submit({ 'a.sh': 'sleep 600' }, { script: 'a.sh' });
    await service.untilRunning(id);
    symlinkSync(join(folder, target), jobFolder(join(service.data, 'jobs', id)).cancel);
    await service.json(`/v1/jobs/${id}`, { method: 'DELETE' });
    assert.equal((await service.untilEnd(id)).state, 'cancelled');
  }
  assert.equal(readFileSync(join(folder, 'secret'), 'utf8'), SECRET);
});

test('results that something replaced by a link are neither sent nor backed up', async (t) => {
  const service = await startService(t);
  const folder = await secretFolder(t);
  const id = await service.submit({ 'a.sh': 'echo made > made.txt' }, { script: 'a.sh' });
  await service.untilEnd(id);
  const { results } = jobFolder(join(service.data, 'jobs', id));
  rmSync(results);
  symlinkSync(join(folder, 'secret'), results);
  assert.doesNotMatch(await (await service.request(`/v1/jobs/${id}/artifacts`)).text(), /a secret/);
  await service.stop();
  const store = new Store(service.data);
  t.after(() => store.dispose());
  const { manifest } = await writeBackup(store, service.data, join(folder, 'backup.tar.gz'));
  assert.deepEqual([manifest.jobs, manifest.results], [1, 0]);
});

test('a job that reports an end of its own is found out, and pays for the time that it was seen to run', async (t) => {
  const service = await startService(t);
  const forged = `{"outcome":"exited","code":0,"signal":null,"detail":null,"at":'$(date +%s)'000,"ranSeconds":0}`;
  const script = [
    'sleep 2.5',
    'touch -d 2020-01-01 ../started.json',
    `echo '${forged}' > ../x`,
    // A runner that lives would write the true one.
    `kill -9 $(sed 's/.*"pid":\\([0-9]*\\).*/\\1/' ../claim.json)`,
    'mv ../x ../exit.json',
    'sleep 600',
  ].join('\n');
  const id = await service.submit({ 'a.sh': script }, { script: 'a.sh' });
  const job = await service.untilEnd(id);
  assert.equal(job.state, 'failed');
  assert.match(job.reason ?? '', /exit.json was changed/);
  assert.ok((job.credits_charged ?? 0) > 0, `${job.credits_charged}`);
});

test('a report is sealed with a secret that is in no file, argument or variable of the job', async (t) => {
  const service = await startService(t);
  const script =
    'cat ../*.json ../*.log 2>/dev/null; tr "\\0" " " < /proc/$PPID/cmdline; tr "\\0" " " < /proc/$PPID/environ; env; ls -l /proc/$$/fd';
  const id = await service.submit({ 'a.sh': script }, { script: 'a.sh' });
  assert.equal((await service.untilEnd(id)).state, 'succeeded');
  const key = readFileSync(join(service.data, 'runner.key'));
  const secret = createHmac('sha256', key).update(id).digest('hex');
  const output = await service.output(id);
  assert.match(output, /--sealed/);
  assert.equal(output.includes(secret), false);
  assert.equal(statSync(join(service.data, 'runner.key')).mode & 0o777, 0o600);
});

test('a job that reports times that are none is ended, and not followed for ever', async (t) => {
  const service = await startService(t);
  for (const at of ['1.5', '1e300', '-1']) {
    const report = `{"outcome":"exited","code":0,"signal":null,"detail":null,"at":${at},"ranSeconds":0}`;
    const script = `echo '${report}' > ../x; mv ../x ../exit.json; sleep 600`;
    const id = await service.submit({ 'a.sh': script }, { script: 'a.sh' });
    const job = await service.untilEnd(id);
    assert.match(job.reason ?? '', /exit.json was changed/);
    assert.ok(['lost', 'failed'].includes(job.state), job.state);
  }
});
