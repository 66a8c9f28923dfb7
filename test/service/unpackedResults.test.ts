import assert from 'node:assert/strict';
import { test } from 'node:test';
import { jsonLines, Scratch } from './commandLine.ts';

// More than the results of one job may have together; the script itself does nothing wrong.
const SCRIPT = 'echo trained; truncate -s 10T holes';
const REASON = /The results could not be packed: They are [\d.,]+ TB.* The script itself exited with status 0\./;

test('a job whose results cannot be packed is a failed one for every verb, which says why', async () => {
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
  assert.match(again.stderr, /failed \(The results could not be packed/);

  const job = jsonLines((await scratch.run(['job', id, '--json'], { env })).stdout)[0];
  assert.deepEqual([job?.['state'], job?.['exit_code']], ['failed', 0]);
  assert.match((await scratch.run(['jobs'], { env })).stdout, /^failed +run\.sh/m);

  const downloaded = await scratch.run(['download', id], { env });
  assert.equal(downloaded.exit, 2, 'there is nothing to download');
  assert.match(downloaded.stderr, REASON);
});

test('submit --download of such a job exits with 1 and does not say that there were no results', async () => {
  await using scratch = await Scratch.create();
  const { env } = await scratch.serve();
  const folder = await scratch.folder('project', { 'run.sh': SCRIPT });
  const done = await scratch.run(['submit', folder, '--script', 'run.sh', '--watch', '--download'], { env });
  assert.equal(done.exit, 1, done.stderr);
  assert.match(done.stderr, REASON);
  assert.doesNotMatch(done.stderr, /produced no results|succeeded/);
});
