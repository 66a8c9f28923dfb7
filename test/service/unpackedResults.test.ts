import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { jsonLines, Scratch } from './commandLine.ts';
import { addAccount } from './support/accounts.ts';
import { startService, testConfig } from './support/service.ts';

// More than the results of one job may have together; the script itself does nothing wrong.
const SCRIPT = 'echo trained | tee model.txt; truncate -s 10T holes';
const REASON =
  /The results are incomplete: holes \([\d.,]+ TB\) was left out, because the results of one job can have 20\.0 GB\. The files are still .* The script itself exited with status 0\./;

test('a job of whose results one is too large is a failed one for every verb, which says why, and all others come home', async () => {
  await using scratch = await Scratch.create();
  const { env } = await scratch.serve();
  const folder = await scratch.folder('project', { 'run.sh': SCRIPT });
  const submit = (...flags: string[]) => scratch.run(['submit', folder, '--script', 'run.sh', ...flags], { env });

  const watched = await submit('--watch', '--json');
  assert.equal(watched.exit, 1, watched.stdout + watched.stderr);
  const outcome = jsonLines(watched.stdout).at(-1);
  assert.deepEqual([outcome?.['state'], outcome?.['exit_code']], ['failed', 0]);
  assert.match(String(outcome?.['reason']), REASON);
  const id = String(outcome?.['job_id']);

  const again = await scratch.run(['watch', id], { env });
  assert.equal(again.exit, 1, again.stderr);
  assert.match(again.stdout, /trained/);
  assert.match(again.stderr, /failed \(The results are incomplete/);

  const job = jsonLines((await scratch.run(['job', id, '--json'], { env })).stdout)[0];
  assert.deepEqual([job?.['state'], job?.['exit_code']], ['failed', 0]);
  assert.match((await scratch.run(['jobs'], { env })).stdout, /^failed +run\.sh/m);

  const downloaded = await scratch.run(['download', id], { env });
  assert.equal(downloaded.exit, 0, downloaded.stderr);
  assert.equal(readFileSync(join(folder, 'model.txt'), 'utf8'), 'trained\n');
  assert.equal(existsSync(join(folder, 'holes')), false);
});

test('submit --download of such a job exits with 1, says what is missing, and brings the rest home', async () => {
  await using scratch = await Scratch.create();
  const { env } = await scratch.serve();
  const folder = await scratch.folder('project', { 'run.sh': SCRIPT });
  const done = await scratch.run(['submit', folder, '--script', 'run.sh', '--watch', '--download'], { env });
  assert.equal(done.exit, 1, done.stderr);
  assert.match(done.stderr, /holes \([\d.,]+ TB\) was left out, because .* The files are still in /);
  assert.match(done.stderr, /^failed \(The results are incomplete/m);
  assert.doesNotMatch(done.stderr, /produced no results|succeeded/);
  assert.equal(readFileSync(join(folder, 'model.txt'), 'utf8'), 'trained\n');
});

test('what was left out stays on the machine: its operator learns where, other accounts learn no path', async (t) => {
  const service = await startService(t, { config: testConfig({ isolation: 'none' }) });
  const { client: ada } = await addAccount(service, 'ada');
  const reasonOf = async (client: typeof ada): Promise<string> => {
    const id = await client.submit({ 'run.sh': SCRIPT }, { script: 'run.sh' });
    return (await client.untilEnd(id)).reason ?? '';
  };
  const own = await reasonOf(service);
  assert.match(own, REASON);
  const workspace = /still in (\S+) on the machine/.exec(own)?.[1] ?? '';
  assert.equal(existsSync(join(workspace, 'holes')), true);
  const shared = await reasonOf(ada);
  assert.match(shared, REASON);
  assert.match(shared, /where its operator finds them with: farwharf admin job \w+\./);
  assert.equal(shared.includes(service.data), false, shared);
});

test('a result that the disk cannot read is left out and named, and all others come home', async (t) => {
  const service = await startService(t, { config: testConfig({ isolation: 'none' }) });
  // The system knows the size of this file, but fails to read it, as a disk with a damaged sector does.
  const script =
    'echo trained > a.txt; echo > m.txt; echo done > z.txt; mount --bind /sys/class/net/lo/speed m.txt && pwd';
  const id = await service.submit({ 'run.sh': script }, { script: 'run.sh' });
  const { state, reason, exit_code } = await service.untilEnd(id);
  const workspace = (await service.output(id)).trim();
  if (exit_code !== 0) return t.skip('SKIPPED: this user may not mount a file that cannot be read');
  execFileSync('umount', [join(workspace, 'm.txt')]);
  assert.equal(state, 'failed');
  assert.match(
    reason ?? '',
    /^The results are incomplete: m\.txt \(EINVAL\) could not be read when the results were packed\. The files are still in /,
  );
  const artifacts = (await service.events(id)).filter(({ event }) => event === 'artifact');
  assert.deepEqual(
    artifacts.map(({ data }) => data['path']),
    ['a.txt', 'z.txt'],
  );
  const archive = Buffer.from(await (await service.request(`/v1/jobs/${id}/artifacts`)).arrayBuffer());
  assert.match(gunzipSync(archive).toString('latin1'), /a\.txt\0[^]*trained\n\0[^]*z\.txt\0[^]*done\n\0/);
  assert.equal(existsSync(join(workspace, 'z.txt')), true);
});

test('a job that puts a link in the place of a file of the service about its results has nothing written where it leads', async (t) => {
  const service = await startService(t, { config: testConfig({ isolation: 'none' }) });
  const target = join(service.data, 'target');
  writeFileSync(target, 'as it was');
  const id = await service.submit({ 'run.sh': `ln -s '${target}' ../incomplete; ${SCRIPT}` }, { script: 'run.sh' });
  assert.match((await service.untilEnd(id)).reason ?? '', REASON);
  assert.equal(readFileSync(target, 'utf8'), 'as it was');
});
