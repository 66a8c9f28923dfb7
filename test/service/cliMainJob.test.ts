import assert from 'node:assert/strict';
import { readFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { jsonLines, Scratch } from './commandLine.ts';

const SCRIPT = `
import { readFileSync, writeFileSync } from 'node:fs';
console.log('reading', readFileSync('input.txt', 'utf8').trim());
console.error('a warning');
writeFileSync('output.txt', 'made by the job\\n');
`;
const PROJECT = { 'work.mjs': SCRIPT, 'input.txt': 'the input\n', '.env': 'TOKEN=secret\n' };

test('without any service set, a folder is sent, watched and its results come home', async () => {
  await using scratch = await Scratch.create();
  const folder = await scratch.folder('a project', PROJECT);
  const done = await scratch.run(['submit', folder, '--script', 'work.mjs', '--watch', '--download']);
  assert.equal(done.exit, 0, done.stderr);
  assert.equal(done.stdout, 'reading the input\n');
  assert.match(done.stderr, /2 files, .* will be sent to this machine\. Up to \S+ core-hours?\.$/m);
  assert.match(done.stderr, /left out: \.env \(looks like a secret/);
  assert.match(done.stderr, /^a warning$/m);
  assert.match(done.stderr, /^ {2}\+ output\.txt$/m);
  assert.match(done.stderr.trim().split('\n').at(-1) ?? '', /succeeded.*results in .*a project/);
  assert.doesNotMatch(done.stderr, /credits/);
  assert.equal(await readFile(join(folder, 'output.txt'), 'utf8'), 'made by the job\n');
  assert.deepEqual((await readdir(folder)).sort(), ['.env', 'input.txt', 'output.txt', 'work.mjs']);
});

test('JSON is one line for the receipt, one for each event, and one for the outcome with the results', async () => {
  await using scratch = await Scratch.create();
  const service = await scratch.serve();
  const folder = await scratch.folder('project', PROJECT);
  const args = ['submit', folder, '--script', 'work.mjs', '--watch', '--download', '--json'];
  const done = await scratch.run(args, { env: service.env });
  assert.equal(done.exit, 0, done.stderr);
  const lines = jsonLines(done.stdout);
  const { job_id: jobId, ...receipt } = lines[0] ?? {};
  assert.equal(typeof jobId, 'string');
  assert.deepEqual([receipt['credit_hold'], receipt['credits_remaining'], receipt['files']], [6, 994, 2]);
  const events = lines.slice(1, -1);
  assert.ok(events.every(({ event, data }) => typeof event === 'string' && typeof data === 'object'));
  const output = events
    .filter(({ event }) => event === 'log')
    .map(({ data }) => data as { stream: string; text: string });
  assert.deepEqual(new Set(output.map(({ stream }) => stream)), new Set(['stdout', 'stderr']));
  assert.equal(
    output
      .map(({ text }) => text)
      .sort()
      .join(''),
    'a warning\nreading the input\n',
  );
  assert.equal(events.at(-1)?.['event'], 'end');
  const outcome = lines.at(-1) ?? {};
  assert.deepEqual([outcome['job_id'], outcome['state'], outcome['exit_code']], [jobId, 'succeeded', 0]);
  assert.deepEqual((outcome['results'] as { written: string[] }).written, ['output.txt']);
});

test('a submit alone prints the id, by which the job is then watched, shown, listed and downloaded', async () => {
  await using scratch = await Scratch.create();
  const { env } = await scratch.serve();
  const folder = await scratch.folder('project', PROJECT);
  const sent = await scratch.run(['submit', folder, '--script', 'work.mjs', '--project', 'thesis'], { env });
  assert.equal(sent.exit, 0, sent.stderr);
  const id = sent.stdout.trim();
  assert.match(id, /^[\w-]+$/);

  const watched = await scratch.run(['watch', id], { env });
  assert.equal(watched.exit, 0, watched.stderr);
  assert.equal(watched.stdout, 'reading the input\n');
  assert.match(watched.stderr, new RegExp(`succeeded.*farwharf download ${id}`));

  const shown = await scratch.run(['job', id, '--json'], { env });
  const [job = {}] = jsonLines(shown.stdout);
  assert.deepEqual([job['state'], job['project'], job['script']], ['succeeded', 'thesis', 'work.mjs']);
  assert.match((await scratch.run(['job', id], { env })).stdout, /^state +succeeded$/m);

  const listed = await scratch.run(['jobs'], { env });
  assert.match(listed.stdout, new RegExp(`^STATE +SCRIPT.*\\nsucceeded +work\\.mjs .* ${id}\\n$`));

  const [list = {}] = jsonLines((await scratch.run(['jobs', '--json'], { env })).stdout);
  const jobs = list['jobs'] as Record<string, unknown>[];
  assert.deepEqual(
    jobs.map((each) => [each['job_id'], each['state'], each['folder']]),
    [[id, 'succeeded', folder]],
  );

  const into = join(scratch.root, 'elsewhere');
  const downloaded = await scratch.run(['download', id, '--into', into, '--json'], { env });
  assert.deepEqual(jsonLines(downloaded.stdout)[0]?.['written'], ['output.txt'], downloaded.stderr);
  assert.equal(await readFile(join(into, 'output.txt'), 'utf8'), 'made by the job\n');
  assert.ok(!(await readdir(folder)).includes('output.txt'));
});

test('a job that was sent from another machine is watched and downloaded by its id alone', async () => {
  await using scratch = await Scratch.create();
  const { env } = await scratch.serve();
  const folder = await scratch.folder('project', PROJECT);
  const id = (await scratch.run(['submit', folder, '--script', 'work.mjs'], { env })).stdout.trim();

  const elsewhere = { ...env, FARWHARF_HOME: join(scratch.root, 'other home') };
  const watched = await scratch.run(['watch', id], { env: elsewhere });
  assert.deepEqual([watched.exit, watched.stdout], [0, 'reading the input\n'], watched.stderr);
  const lost = await scratch.run(['download', id], { env: elsewhere });
  assert.equal(lost.exit, 2);
  assert.match(lost.stderr, /--into DIR/);
  const into = join(scratch.root, 'results');
  assert.equal((await scratch.run(['download', id, '--into', into], { env: elsewhere })).exit, 0);
  assert.deepEqual(await readdir(into), ['output.txt']);
  assert.match((await scratch.run(['jobs'], { env: elsewhere })).stdout, /^No jobs/);
});

test('the account is shown with its rate card, and with what jobs were charged', async () => {
  await using scratch = await Scratch.create();
  const { env } = await scratch.serve(['--credits', '250']);
  const shown = await scratch.run(['me'], { env });
  assert.match(shown.stdout, /^250 credits/);
  assert.match(shown.stdout, /^local +0\.1 /m);
  const [account = {}] = jsonLines((await scratch.run(['me', '--json'], { env })).stdout);
  assert.deepEqual([account['credits'], account['spent']], [250, []]);

  const folder = await scratch.folder('project', PROJECT);
  const submit = ['submit', folder, '--script', 'work.mjs', '--project', 'vision', '--watch'];
  assert.equal((await scratch.run(submit, { env })).exit, 0);
  const [after = {}] = jsonLines((await scratch.run(['me', '--json'], { env })).stdout);
  const spent = 250 - Number(after['credits']);
  const [of] = after['spent'] as { project: string; today: number; this_month: number }[];
  assert.ok(spent > 0 && of?.project === 'vision' && Math.abs(of.this_month - spent) < 1e-6, JSON.stringify(after));
  const { stdout } = await scratch.run(['me'], { env });
  assert.match(stdout, /^Spent by jobs from this machine: \S+ credits today, \S+ this month \(vision \S+\)\.$/m);
});

test('a job is cancelled, and what watches it then says so', async () => {
  await using scratch = await Scratch.create();
  const { env } = await scratch.serve();
  const folder = await scratch.folder('project', { 'wait.sh': 'echo waiting\nsleep 600\n' });
  let cancelling: Promise<unknown> | undefined;
  const done = await scratch.run(['submit', folder, '--script', 'wait.sh', '--watch', '--json'], {
    env,
    onOutput({ stdout }) {
      if (!stdout.includes('waiting')) return;
      cancelling ??= scratch.run(['cancel', String(jsonLines(stdout.slice(0, stdout.indexOf('\n')))[0]?.['job_id'])], {
        env,
      });
    },
  });
  await cancelling;
  assert.equal(done.exit, 1, done.stderr);
  assert.equal(jsonLines(done.stdout).at(-1)?.['state'], 'cancelled');
});
