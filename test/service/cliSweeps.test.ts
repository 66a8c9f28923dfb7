import assert from 'node:assert/strict';
import { readdir, readFile, rm, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { jsonLines, Scratch } from './commandLine.ts';
import { GATE, openGate } from './support/gate.ts';

const SCRIPT = `
const [lr, seed] = process.argv.slice(2).map(Number);
console.log('farwharf:metric ' + JSON.stringify({ step: 1, loss: Math.abs(lr - 0.1) + seed / 100 }));
`;
const PROFILES = {
  profiles: {
    train: {
      script: 'train.mjs',
      arguments: ['${matrix:lr}', '${matrix:seed}'],
      maxRuntime: 60,
      matrix: { lr: [1, 0.1], seed: [2, 1] },
      concurrency: 2,
    },
    capped: { script: 'train.mjs ${matrix:lr} 0', maxRuntime: 60, matrix: { lr: [1, 2, 3] }, maxCost: 0.15 },
  },
};

interface SweepJson {
  readonly sweep_id: string;
  readonly end?: string;
  readonly counts: Readonly<Record<string, number>>;
  readonly jobs: readonly {
    readonly parameters: object;
    readonly job_id: string | null;
    readonly state: string;
    readonly metrics: Readonly<Record<string, { readonly last: number }>>;
  }[];
}

function sweepOf(stdout: string): SweepJson {
  return jsonLines(stdout).at(-1) as unknown as SweepJson;
}

test('Ctrl+C while a sweep is watched leaves its jobs running and says how to come back', async () => {
  await using scratch = await Scratch.create();
  const { env } = await scratch.serve();
  const profile = { script: 'wait.sh ${matrix:n}', maxRuntime: 600, matrix: { n: [1, 2] } };
  const folder = await scratch.folder('project', {
    'wait.sh': 'sleep 600\n',
    'farwharf.json': JSON.stringify({ profiles: { wait: profile } }),
  });
  let isSent = false;
  const left = await scratch.run(['submit', folder, '--profile', 'wait', '--watch', '--json'], {
    env,
    onOutput({ stderr }, interrupt) {
      if (!isSent && stderr.includes('compare them')) interrupt();
      isSent ||= stderr.includes('compare them');
    },
  });
  assert.equal(left.exit, 130, left.stderr);
  assert.match(left.stderr, /Stopped watching\. The jobs of wait continue to run\./);
  const { sweep_id: id, jobs } = sweepOf(left.stdout);
  assert.equal(jobs.length, 2);
  assert.match(left.stderr, new RegExp(`farwharf sweep resume ${id.slice(0, 8)} --watch`));
  const cancelled = await scratch.run(['sweep', 'cancel', id.slice(0, 8), '--json'], { env });
  assert.equal(jsonLines(cancelled.stdout)[0]?.['cancelled'], 2, cancelled.stderr);
});

test('a profile with a matrix submits a job for each combination, which can be compared, repeated and listed', async () => {
  await using scratch = await Scratch.create();
  const { env } = await scratch.serve();
  const folder = await scratch.folder('project', {
    'train.mjs': SCRIPT,
    'farwharf.json': JSON.stringify(PROFILES),
  });
  const dry = await scratch.run(['submit', folder, '--profile', 'train', '--dry-run', '--json'], { env });
  const [planned = {}] = jsonLines(dry.stdout);
  assert.equal((planned['jobs'] as unknown[]).length, 4, dry.stderr);

  const done = await scratch.run(['submit', folder, '--profile', 'train', '--watch', '--json'], { env });
  assert.equal(done.exit, 0, done.stderr);
  assert.match(done.stderr, /4 jobs, at most 2 at once, at most 0\.4 credits together\./);
  const sent = sweepOf(done.stdout);
  assert.deepEqual([sent.end, sent.counts['succeeded']], ['all-sent', 4]);
  assert.equal(new Set(sent.jobs.map((job) => job.job_id)).size, 4);

  const table = await scratch.run(['sweep', 'show', sent.sweep_id.slice(0, 6), '--by', 'loss'], { env });
  assert.match(table.stdout, /^lr +seed +loss +STATE +TIME +CREDITS +ID\n0\.1 +1 +0\.01 +succeeded/, table.stderr);
  const shown = sweepOf((await scratch.run(['sweep', 'show', sent.sweep_id, '--json'], { env })).stdout);
  assert.deepEqual(
    shown.jobs.map(({ parameters, metrics }) => [parameters, metrics['loss']?.last]),
    [
      [{ lr: 1, seed: 2 }, 0.92],
      [{ lr: 1, seed: 1 }, 0.91],
      [{ lr: 0.1, seed: 2 }, 0.02],
      [{ lr: 0.1, seed: 1 }, 0.01],
    ],
  );

  const best = ['sweep', 'best', sent.sweep_id, '--by', 'loss', '--set', 'seed=7'];
  const again = await scratch.run([...best, '--watch'], { env });
  assert.equal(again.exit, 0, again.stderr);
  assert.match(again.stdout, /"loss":0\.07/);
  const list = await scratch.run(['sweep', 'list'], { env });
  assert.match(list.stdout, /^PROFILE +JOBS +DONE .*\ntrain +4 +4 /);
  const none = await scratch.run(['sweep', 'best', sent.sweep_id, '--by', 'los'], { env });
  assert.match(none.stderr, /has a value of los\. Did you mean loss\?/);
});

test('no job is sent that could exceed the cost limit, and a cancelled sweep is not continued', async () => {
  await using scratch = await Scratch.create();
  const { env } = await scratch.serve();
  const folder = await scratch.folder('project', {
    // Longer than the others take to be sent, so that its limit counts and not its cost.
    'train.mjs': 'setTimeout(() => {}, 1_500);',
    'farwharf.json': JSON.stringify(PROFILES),
  });
  const low = { profiles: { ...PROFILES.profiles, capped: { ...PROFILES.profiles.capped, maxCost: 0.05 } } };
  const refusing = await scratch.folder('refusing', { 'train.mjs': SCRIPT, 'farwharf.json': JSON.stringify(low) });
  const refused = await scratch.run(['submit', refusing, '--profile', 'capped'], { env });
  assert.equal(refused.exit, 2);
  assert.match(
    refused.stderr,
    /can cost 0\.1 credits, more than the limit of 0\.05 for all of them\. Nothing was sent\./,
  );

  const run = await scratch.run(['submit', folder, '--profile', 'capped', '--json'], { env });
  assert.equal(run.exit, 0, run.stderr);
  const capped = sweepOf(run.stdout);
  // Each job can cost 0.1 and costs far less, so the second one waits for the first.
  assert.equal(capped.end, 'all-sent', run.stdout);
  const cancelled = await scratch.run(['sweep', 'cancel', capped.sweep_id, '--json'], { env });
  assert.equal(cancelled.exit, 0, cancelled.stderr);
  const resumed = await scratch.run(['sweep', 'resume', capped.sweep_id], { env });
  assert.match(resumed.stderr, /was cancelled, so no more of its jobs are sent\./);
});

test('a sweep that was killed is continued without sending a job twice', async () => {
  await using scratch = await Scratch.create();
  const { env } = await scratch.serve();
  const folder = await scratch.folder('project', {
    'train.mjs': SCRIPT,
    'farwharf.json': JSON.stringify(PROFILES),
  });
  const options = {
    env,
    onOutput: ({ stderr }: { stderr: string }, kill: (signal: NodeJS.Signals) => void) => {
      if (stderr.includes('2 of 4:')) kill('SIGKILL');
    },
  };
  const killed = await scratch.run(['submit', folder, '--profile', 'train'], options);
  assert.equal(killed.exit, null);
  const [listed] = jsonLines((await scratch.run(['sweep', 'list', '--json'], { env })).stdout);
  const [sweep] = (listed?.['sweeps'] ?? []) as SweepJson[];
  assert.ok(sweep !== undefined && (sweep.counts['unsent'] ?? 0) > 0);
  // The folder is not read again.
  await rm(join(folder, 'train.mjs'));
  const resumed = await scratch.run(['sweep', 'resume', sweep.sweep_id, '--watch', '--json'], { env });
  assert.equal(resumed.exit, 0, resumed.stderr);
  assert.equal(sweepOf(resumed.stdout).counts['succeeded'], 4);
  const response = await fetch(`${env['FARWHARF_REMOTE_HOST']}/v1/jobs?limit=100`, {
    headers: { authorization: `Bearer ${env['FARWHARF_API_KEY']}` },
  });
  const { jobs } = (await response.json()) as { jobs: { script: string }[] };
  assert.equal(jobs.length, 4);
  assert.equal(new Set(jobs.map(({ script }) => script)).size, 4);
});

const KEEPING = {
  profiles: {
    keep: { script: 'keep.sh ${matrix:n}', maxRuntime: 60, matrix: { n: [1, 2, 3] }, results: 'runs' },
    more: { script: 'keep.sh ${matrix:n}', maxRuntime: 60, matrix: { n: [4, 5] } },
  },
};
// The second job fails, and has results too; the third has none.
const KEEP = '[ "$1" = 3 ] || echo "$1" > "out $1.txt"\n[ "$1" != 2 ]\n';

test('the results of a sweep come home, those of each job in a folder of its own, and only once', async () => {
  await using scratch = await Scratch.create();
  const { env } = await scratch.serve();
  const folder = await scratch.folder('project', { 'keep.sh': KEEP, 'farwharf.json': JSON.stringify(KEEPING) });
  const sent = await scratch.run(['submit', folder, '--profile', 'keep', '--watch', '--json'], { env });
  assert.equal(sent.exit, 1, sent.stderr);
  const id = sweepOf(sent.stdout).sweep_id;
  const done = await scratch.run(['sweep', 'download', id.slice(0, 8), '--json'], { env });
  assert.equal(done.exit, 0, done.stderr);
  const [{ jobs } = { jobs: [] }] = jsonLines(done.stdout) as unknown as {
    jobs: { folder: string; written: string[] }[];
  }[];
  const written = jobs.filter((job) => job.written.length > 0);
  assert.deepEqual(
    written.map((job) => [job.folder, job.written]),
    [
      [join(folder, 'runs', '1-n=1'), ['out 1.txt']],
      [join(folder, 'runs', '2-n=2'), ['out 2.txt']],
    ],
  );
  assert.equal(await readFile(join(folder, 'runs', '2-n=2', 'out 2.txt'), 'utf8'), '2\n');
  const again = await scratch.run(['sweep', 'download', id.slice(0, 8)], { env });
  assert.equal(again.exit, 0, again.stderr);
  assert.match(again.stderr, /The results of 3 jobs were downloaded before\. Again: {2}farwharf download ID/);
  const other = await scratch.run(['submit', folder, '--profile', 'more', '--watch'], { env });
  assert.equal(other.exit, 0, other.stderr);
  const elsewhere = join(scratch.root, 'elsewhere');
  const moved = await scratch.run(['sweep', 'download', other.stdout.trim(), '--into', elsewhere], { env });
  assert.equal(moved.exit, 0, moved.stderr);
  assert.equal(await readFile(join(elsewhere, '2-n=5', 'out 5.txt'), 'utf8'), '5\n', moved.stderr);
});

test('a submit of a sweep can bring the results home, and says what it could not', async () => {
  await using scratch = await Scratch.create();
  const { env } = await scratch.serve();
  const folder = await scratch.folder('project', { 'keep.sh': KEEP, 'farwharf.json': JSON.stringify(KEEPING) });
  // What a job's results would replace: a folder that leads out.
  const outside = await scratch.folder('outside', {});
  await symlink(outside, join(folder, 'runs'));
  const done = await scratch.run(['submit', folder, '--profile', 'keep', '--download'], { env });
  assert.equal(done.exit, 1, done.stderr);
  assert.match(done.stderr, /n=1: The profile puts the results into runs\/1-n=1, which leads out of /);
  assert.match(done.stderr, /n=2: The profile puts the results into runs\/2-n=2, which leads out of /);
  assert.deepEqual(await readdir(outside), []);
});

test('a sweep that is watched waits for a service that is away', async () => {
  await using scratch = await Scratch.create();
  const first = await scratch.serve();
  const folder = await scratch.folder('project', {
    'wait.sh': GATE,
    'farwharf.json': JSON.stringify({
      profiles: { wait: { script: 'wait.sh ${matrix:n}', maxRuntime: 600, matrix: { n: [1, 2] } } },
    }),
  });
  const away = Promise.withResolvers<void>();
  let jobs: readonly string[] = [];
  let stopped: Promise<unknown> | undefined;
  const watched = scratch.run(['submit', folder, '--profile', 'wait', '--watch'], {
    env: first.env,
    onOutput({ stderr }) {
      jobs = [...stderr.matchAll(/accepted as job (\w+)/g)].map(([, id = '']) => id);
      if (stderr.includes('compare them')) stopped ??= first.stop();
      if (stderr.includes('does not respond')) away.resolve();
    },
  });
  await Promise.race([away.promise, watched]);
  await stopped;
  const port = new URL(first.url).port;
  await scratch.serve(['--port', port, '--data', first.data], { FARWHARF_API_KEY: first.key });
  // One by one, because the first service may have stopped before it wrote both workspaces.
  for (const id of jobs) await openGate(first.data, id);
  const { exit, stderr } = await watched;
  assert.equal(exit, 0, stderr);
  assert.match(stderr, /does not respond\. Its jobs keep running\..*responds again\..*n=2: .*succeeded/s);
});
