import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { jsonLines, Scratch, until } from './commandLine.ts';
import { processesWith } from './support/processes.ts';
import { runLine } from './support/shell.ts';

const NO_SPACE = 'farwharf: Could not write the output: no space left on device.\n';
const noFullDevice = existsSync('/dev/full') ? false : 'NOT TESTED: this machine has no /dev/full';
const ENDLESS = 'while :; do echo tick; sleep 0.05; done\n';

interface ListedJob {
  readonly job_id: string | null;
  readonly state: string;
}

async function listJobs(scratch: Scratch, env: Readonly<Record<string, string>>): Promise<readonly ListedJob[]> {
  const listed = await scratch.run(['jobs', '--json'], { env });
  const [{ jobs = [] } = {}] = jsonLines(listed.stdout) as { jobs?: ListedJob[] }[];
  return jobs;
}

for (const [name, redirection, skip] of [
  ['a reader of both streams that leaves after a line', '2>&1 | head -1', false],
  ['a reader of both streams that is gone from the start', '2>&1 | true', false],
  ['a closed stderr', '2>&-', false],
  ['a full stderr', '2>/dev/full', noFullDevice],
] as const) {
  test(`a submit is done in spite of ${name}`, { skip }, async () => {
    await using scratch = await Scratch.create();
    const { env } = await scratch.serve();
    await scratch.folder('project', { 'run.sh': 'echo ran' });
    const { statuses } = await runLine(scratch, `farwharf submit project --script run.sh ${redirection}`, { env });
    assert.deepEqual(statuses, [0]);
    const [job, ...others] = await listJobs(scratch, env);
    assert.match(job?.job_id ?? '', /^\w+$/);
    assert.deepEqual(others, []);
  });
}

test('a reader that leaves ends the log and not the job', async () => {
  await using scratch = await Scratch.create();
  const { env } = await scratch.serve();
  await scratch.folder('project', { 'run.sh': ENDLESS });
  const submitted = await runLine(scratch, 'farwharf submit project --script run.sh --watch | head -1', { env });
  assert.deepEqual([submitted.statuses, submitted.stdout], [[0], 'tick\n'], submitted.stderr);
  const [job] = await listJobs(scratch, env);
  assert.equal(job?.state, 'running');
  const id = job.job_id ?? '';
  assert.match(submitted.stderr, new RegExp(`Job ${id} continues to run`));
  for (const line of [`farwharf watch ${id} | head -1`, `farwharf watch ${id} 2>&1 | head -1`]) {
    const watched = await runLine(scratch, line, { env });
    assert.deepEqual([watched.statuses, watched.stdout.split('\n').length], [[0], 2], watched.stderr);
  }
  const asJson = await runLine(scratch, `farwharf watch ${id} --json | head -1`, { env });
  assert.deepEqual([asJson.statuses, jsonLines(asJson.stdout).length], [[0], 1], asJson.stderr);
  assert.equal((await scratch.run(['cancel', id], { env })).exit, 0);
});

test('the results come home although the reader of the log left', async () => {
  await using scratch = await Scratch.create();
  const { env } = await scratch.serve();
  const folder = await scratch.folder('project', {
    'run.sh': 'for i in 1 2 3 4 5 6 7 8 9 10; do echo $i; sleep 0.1; done; echo made > out.txt',
  });
  const line = 'farwharf submit project --script run.sh --watch --download | head -1';
  const done = await runLine(scratch, line, { env });
  assert.deepEqual([done.statuses, done.stdout], [[0], '1\n'], done.stderr);
  assert.equal(await readFile(join(folder, 'out.txt'), 'utf8'), 'made\n');
});

test('output that cannot be written is reported in one line, and the work is done', {
  skip: noFullDevice,
}, async () => {
  await using scratch = await Scratch.create();
  const { env } = await scratch.serve();
  await scratch.folder('project', { 'run.sh': ENDLESS });
  const submitted = await runLine(scratch, 'farwharf submit project --script run.sh > /dev/full', { env });
  assert.deepEqual(submitted.statuses, [1]);
  assert.match(submitted.stderr, /accepted as job/);
  assert.ok(submitted.stderr.endsWith(NO_SPACE), submitted.stderr);
  const [job] = await listJobs(scratch, env);
  const id = job?.job_id ?? '';
  for (const command of ['jobs', 'jobs --json', 'me', `job ${id}`, '--help', '--version', `watch ${id} --json`]) {
    const end = await runLine(scratch, `farwharf ${command} > /dev/full`, { env });
    assert.deepEqual(end.statuses, [1], command);
    assert.ok(end.stderr.endsWith(NO_SPACE), end.stderr);
    assert.ok(end.stderr.split('\n').length <= 5, end.stderr);
  }
  const both = await runLine(scratch, `farwharf jobs > /dev/full 2>&1`, { env });
  assert.deepEqual(both, { statuses: [1], stdout: '', stderr: '' });
  assert.equal((await scratch.run(['cancel', id], { env })).exit, 0);
});

test('commands that print a list end quietly when their reader leaves', async () => {
  await using scratch = await Scratch.create();
  const text = Array.from({ length: 400 }, (_, line) => `export const apple${line} = ${line};\n`).join('');
  await scratch.folder('project', Object.fromEntries(Array.from({ length: 40 }, (_, i) => [`file${i}.ts`, text])));
  for (const line of [
    'farwharf search apple --folder project --top-k 500 | head -1',
    'farwharf search apple --folder project --top-k 500 --json | true',
    'farwharf submit project --dry-run | true',
    'farwharf --help | true',
  ]) {
    const { statuses, stderr } = await runLine(scratch, line);
    assert.deepEqual(statuses, [0], stderr);
    assert.doesNotMatch(stderr, /EPIPE|Error/);
  }
});

test('a flow whose reader left is ended with all that it started', async () => {
  await using scratch = await Scratch.create();
  const seconds = 900_000 + Math.floor(Math.random() * 90_000);
  const body = (print: string): string => `
    import { spawn } from 'node:child_process';
    import { Flow, Node } from 'farwharf/agents';
    class Endless extends Node {
      async exec() {
        spawn('sleep', ['${seconds}'], { stdio: 'ignore', detached: true });
        for (;;) { ${print}('tick'); await new Promise((next) => setTimeout(next, 50)); }
      }
    }
    export default new Flow({ start: new Endless() });
  `;
  await scratch.folder('.', { 'out.ts': body('console.log'), 'error.ts': body('console.error') });
  for (const line of [
    'farwharf flow run out.ts | head -1',
    'farwharf flow run out.ts --json | head -1',
    'farwharf flow run error.ts 2>&1 | head -1',
  ]) {
    const { statuses, stderr } = await runLine(scratch, line);
    assert.deepEqual(statuses, [0], stderr);
    assert.deepEqual(processesWith(`sleep ${seconds}`), []);
    assert.deepEqual(processesWith(scratch.root), []);
  }
  const kept = await scratch.run(['flow', 'runs', 'out.ts', '--json']);
  const [{ runs = [] } = {}] = jsonLines(kept.stdout) as { runs?: { outcome?: { type: string } }[] }[];
  assert.deepEqual(
    runs.map(({ outcome }) => outcome?.type),
    ['stopped', 'stopped'],
  );
});

test('a service continues if nobody reads what it prints', async () => {
  await using scratch = await Scratch.create();
  for (const line of [
    `farwharf serve --port 0 --json 2>&1 | grep -m 1 '"pid"'`,
    'farwharf serve --port 0 --json 2>&- | head -1',
  ]) {
    let address: { url: string; key: string; pid: number } | undefined;
    const ended = runLine(scratch, line, {
      onOutput: (stdout) => (address ??= jsonLines(stdout)[0] as typeof address),
    });
    await until(() => address !== undefined);
    const { url = '', key = '', pid = 0 } = address ?? {};
    const env = { FARWHARF_REMOTE_HOST: url, FARWHARF_API_KEY: key };
    await scratch.folder('project', { 'run.sh': 'echo ran' });
    for (const _ of [1, 2]) {
      const done = await scratch.run(['submit', 'project', '--script', 'run.sh', '--watch'], { env });
      assert.deepEqual([done.exit, done.stdout], [0, 'ran\n'], done.stderr);
    }
    process.kill(pid, 'SIGTERM');
    assert.deepEqual((await ended).statuses, [0]);
  }
});
