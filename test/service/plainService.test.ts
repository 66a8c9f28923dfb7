import assert from 'node:assert/strict';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { jsonLines, Scratch } from './commandLine.ts';
import { PlainService, SYNONYMS } from './support/plainService.ts';

const SCRIPT = 'echo "learning $1"; cat data/in.txt; mkdir -p out; echo 0.5 > out/loss.txt; echo end >> notes.md\n';
const FILES = {
  'run.sh': SCRIPT,
  'data/in.txt': 'input\n',
  'notes.md': 'start\n',
  'fail.sh': 'echo broken >&2; exit 3\n',
};

test('a service with only what the specification shows runs the main job from the preview to the results', async () => {
  await using scratch = await Scratch.create();
  await using service = await PlainService.start(SYNONYMS);
  const { env } = service;
  const folder = await scratch.folder('project', FILES);
  const run = (...args: string[]) => scratch.run(args, { env });
  const submit = ['submit', folder, '--script', 'run.sh --fast', '--max-runtime', '120', '--machine-class', 'gpu'];

  assert.match((await run('me')).stdout, /42/);
  const unknown = await run('submit', folder, '--script', 'run.sh', '--machine-class', 'huge');
  assert.deepEqual([unknown.exit, service.submissions.length], [2, 0]);
  assert.match(
    unknown.stderr,
    /Machine class "huge" does not exist .*Available: small \(0\.1 credits a minute\), gpu \(1 /,
  );

  const sent = await run(...submit);
  assert.equal(sent.exit, 0, sent.stderr);
  assert.match(sent.stderr, /At most 2 credits of 42/i);
  const id = sent.stdout.trim();
  assert.deepEqual(service.submissions, [{ script: 'run.sh --fast', max_runtime: 120, machine_class: 'gpu' }]);
  const watched = await run('watch', id);
  assert.deepEqual([watched.exit, watched.stdout], [0, 'learning --fast\ninput\n']);
  assert.match(watched.stderr, /COMPLETED|succeeded/i);
  const again = await run('watch', id);
  assert.equal(again.stdout, watched.stdout, 'the log is read from the disk, once');

  const page = await run('job', id);
  assert.match(page.stdout, /^state +COMPLETED$/m);
  assert.match(page.stdout, /^script +run\.sh$/m);
  const [listed] = jsonLines((await run('jobs', '--json')).stdout);
  assert.match(JSON.stringify(listed), new RegExp(id));
  assert.match((await run('results', id)).stdout, /4 B +out\/loss\.txt/);
  await writeFile(join(folder, 'notes.md'), 'mine\n');
  const download = await run('download', id);
  assert.equal(download.exit, 0, download.stderr);
  assert.equal(await readFile(join(folder, 'out/loss.txt'), 'utf8'), '0.5\n');
  assert.equal(await readFile(join(folder, 'notes.md'), 'utf8'), 'mine\n', 'both changed it');
  assert.ok((await readdir(folder)).some((name) => /^notes \(job .+\)\.md$/.test(name)));
  assert.match((await run('diff', id)).stdout, /^M {2}notes\.md$/m);
  assert.deepEqual(service.unknownRequests, [], 'nothing was asked for that the specification does not show');
});

test('jobs that fail, are cancelled, or are not known end with the right status there', async () => {
  await using scratch = await Scratch.create();
  await using service = await PlainService.start(SYNONYMS);
  const { env } = service;
  const folder = await scratch.folder('project', { ...FILES, 'long.sh': 'echo started; sleep 600\n' });
  const run = (...args: string[]) => scratch.run(args, { env });
  const failed = await run('submit', folder, '--script', 'fail.sh', '--watch');
  assert.equal(failed.exit, 1, failed.stderr);
  assert.match(failed.stdout + failed.stderr, /broken/);

  const id = (await run('submit', folder, '--script', 'long.sh')).stdout.trim();
  assert.equal((await run('cancel', id)).exit, 0);
  const watched = await run('watch', id);
  assert.equal(watched.exit, 1);
  assert.match(watched.stderr, /cancel/i);
  const missing = await run('watch', 'ffffffffffff');
  assert.equal(missing.exit, 2);
  assert.match(missing.stderr, /ffffffffffff/);
  const refused = await scratch.run(['me'], { env: { ...env, FARWHARF_API_KEY: 'wrong' } });
  assert.equal(refused.exit, 3);
});

test('an unknown state is shown as it is, and the log says that the end cannot be determined', async () => {
  await using scratch = await Scratch.create();
  await using service = await PlainService.start({
    running: 'crunching',
    done: 'all_wrapped_up',
    failed: 'sad',
    cancelled: 'dropped',
  });
  const { env } = service;
  const folder = await scratch.folder('project', FILES);
  const id = (await scratch.run(['submit', folder, '--script', 'run.sh'], { env })).stdout.trim();
  let isInterrupted = false; // a second interrupt stops the command without its exit status
  const watched = await scratch.run(['watch', id], {
    env,
    onOutput: ({ stderr }, interrupt) => {
      if (isInterrupted || !/does not know/.test(stderr)) return;
      isInterrupted = true;
      interrupt();
    },
  });
  assert.equal(watched.exit, 130);
  assert.equal(watched.stdout, 'learning \ninput\n', 'each line once, however often the log is sent again');
  assert.match(watched.stderr, /state is "all_wrapped_up", which Farwharf does not know/);
  assert.match((await scratch.run(['job', id], { env })).stdout, /^state +all_wrapped_up$/m);
  assert.equal((await scratch.run(['download', id], { env })).exit, 0);
  assert.equal(await readFile(join(folder, 'out/loss.txt'), 'utf8'), '0.5\n');
});
