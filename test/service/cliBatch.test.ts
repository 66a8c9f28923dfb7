import assert from 'node:assert/strict';
import { truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { jsonLines, Scratch } from './commandLine.ts';

const CLASSES = `
[[machine_classes]]
name = "small"
cpus = 1
memory_gb = 4
credits_per_minute = 0.1
[[machine_classes]]
name = "big"
cpus = 1
memory_gb = 64
credits_per_minute = 0.2
`;
const TRAIN = `#!/bin/bash
#SBATCH --job-name=train
#SBATCH -t 00:02:00 -A vision
#SBATCH --mem=16G            # more than the small class has
#SBATCH --output=slurm-%j.out
#SBATCH --mail-type=ALL

# The next line is a command.
cd "$SLURM_SUBMIT_DIR" || exit 1
#SBATCH --time=9:00:00
echo "in $(basename "$PWD"): $SLURM_JOB_NAME $(cat data.txt)"
`;

interface Listed {
  readonly script: string;
  readonly state: string;
  readonly project: string;
  readonly max_runtime: number;
  readonly machine_class: string;
}

/** A service with two machine classes. */
async function start(): Promise<{ scratch: Scratch; env: Readonly<Record<string, string>> }> {
  const scratch = await Scratch.create();
  const config = join(scratch.root, 'classes.toml');
  await writeFile(config, CLASSES);
  const { env } = await scratch.serve(['--config', config]);
  return { scratch, env };
}

async function listed(scratch: Scratch, env: Readonly<Record<string, string>>): Promise<readonly Listed[]> {
  const { stdout } = await scratch.run(['jobs', '--json'], { env });
  return (jsonLines(stdout)[0]?.['jobs'] ?? []) as Listed[];
}

test('a batch script runs with its time limit, account and machine class, and the output names what is not used', async () => {
  const { scratch, env } = await start();
  await using _ = scratch;
  const folder = await scratch.folder('project', { 'train.sbatch': TRAIN, 'data.txt': 'data' });
  const done = await scratch.run(['submit', 'train.sbatch', '--watch'], { env, cwd: folder });
  assert.equal(done.exit, 0, done.stderr);
  assert.equal(done.stdout, 'in workspace: train data\n');
  assert.match(
    done.stderr,
    /Folder .*project is sent\. Taken from train\.sbatch: time limit 2 min, machine class big, project vision/,
  );
  assert.match(
    done.stderr,
    /Line 5 of train\.sbatch, --output=slurm-%j\.out, is not used\. All output is in the job's log/,
  );
  assert.match(
    done.stderr,
    /Line 6 of train\.sbatch, --mail-type=ALL, is not used\. On a cluster, --cluster mail asks for a mail/,
  );
  assert.doesNotMatch(done.stderr, /--mem|--time|Line 10/);
  const [job] = await listed(scratch, env);
  assert.deepEqual(
    [job?.script, job?.project, job?.max_runtime, job?.machine_class],
    ['train.sbatch', 'vision', 120, 'big'],
  );
});

test('flags win over a batch script, and a script elsewhere is sent with its own folder', async () => {
  const { scratch, env } = await start();
  await using _ = scratch;
  const folder = await scratch.folder('project', { 'train.slurm': TRAIN, 'data.txt': 'data' });
  const flags = ['--max-runtime', '90', '--machine-class', 'small', '--project', 'other', '--dry-run', '--json'];
  const dry = await scratch.run(['submit', join(folder, 'train.slurm'), ...flags], { env, cwd: '/' });
  assert.equal(dry.exit, 0, dry.stderr);
  const [answer = {}] = jsonLines(dry.stdout);
  const { files, script, max_runtime, machine_class, project, findings } = answer;
  assert.deepEqual(
    [(files as { path: string }[]).map(({ path }) => path), script, max_runtime, machine_class, project],
    [['data.txt', 'train.slurm'], 'train.slurm', 90, 'small', 'other'],
  );
  const messages = (findings as { type: string; message: string }[]).map(({ message }) => message).join('\n');
  assert.match(messages, /Line 2 of train\.slurm, --job-name=train/);
  assert.doesNotMatch(messages, /--mem/, 'the machine class was chosen by a flag');
});

test('a shell script with #SBATCH lines in a folder of --chdir is a batch script, and one without them is not', async () => {
  const { scratch, env } = await start();
  await using _ = scratch;
  const folder = await scratch.folder('project', {
    'model/jobs/run.sh':
      '#!/bin/sh\n#SBATCH --chdir=model\n#SBATCH --export=ALL,GREETING=hello\necho "$GREETING"; ls\n',
    'model/one.txt': '1',
    'plain.sh': 'echo plain\n',
  });
  const done = await scratch.run(['submit', 'model/jobs/run.sh', '--watch'], { env, cwd: folder });
  assert.equal(done.exit, 0, done.stderr);
  assert.equal(done.stdout, 'hello\nartifacts\njobs\none.txt\n');
  const named = await scratch.run(['submit', 'model', '--script', 'jobs/run.sh', '--dry-run'], { env, cwd: folder });
  assert.match(named.stderr, /Taken from jobs\/run\.sh: .*variables GREETING/, 'a flag names it as well');
  const plain = await scratch.run(['submit', 'plain.sh'], { env, cwd: folder });
  assert.equal(plain.exit, 2);
  assert.match(plain.stderr, /plain\.sh is a file\. Enter the folder that contains it/);
  const profile = await scratch.run(['submit', 'model/jobs/run.sh', '--profile', 'x'], { env, cwd: folder });
  assert.equal(profile.exit, 2);
  assert.match(profile.stderr, /is a batch script, which has no profile/);
});

test('an array of tasks is sent as a sweep, and one that is too large is refused', async () => {
  const { scratch, env } = await start();
  await using _ = scratch;
  const script = (array: string) =>
    `#!/bin/bash\n#SBATCH --array=${array}\n#SBATCH -J grid -t 1\necho "task $SLURM_ARRAY_TASK_ID of $SLURM_ARRAY_TASK_COUNT"\n`;
  const folder = await scratch.folder('project', {
    'grid.sbatch': script('1-5:2%1'),
    'huge.sbatch': script('1-1000'),
    'wrong.sbatch': script('all'),
  });
  const done = await scratch.run(['submit', 'grid.sbatch', '--watch', '--json'], { env, cwd: folder });
  assert.equal(done.exit, 0, done.stderr);
  const jobs = await listed(scratch, env);
  assert.deepEqual(
    jobs.map(({ state, max_runtime }) => [state, max_runtime]),
    Array.from({ length: 3 }, () => ['succeeded', 60]),
  );
  const huge = await scratch.run(['submit', 'huge.sbatch'], { env, cwd: folder });
  assert.equal(huge.exit, 2);
  assert.match(
    huge.stderr,
    /Line 2 of huge\.sbatch, --array=1-1000, is not used\. It has 1,000 tasks, and a sweep has at most 500 jobs.*Nothing was sent/,
  );
  const wrong = await scratch.run(['submit', 'wrong.sbatch'], { env, cwd: folder });
  assert.equal(wrong.exit, 2);
  assert.equal((await listed(scratch, env)).length, 3);
});

test('hostile batch scripts are refused or read, and control neither the terminal nor the command', async () => {
  const { scratch, env } = await start();
  await using _ = scratch;
  const lines = Array.from({ length: 10_000 }, (_, index) => `#SBATCH --comment=${index}`).join('\n');
  const folder = await scratch.folder('project', {
    'none.sbatch': 'echo no first line\n',
    'windows.sbatch': '#!/bin/bash\r\n#SBATCH -t 1\r\n',
    'binary.sbatch': '#!/bin/bash\n\0\0\n',
    'control.sbatch':
      '#!/bin/bash\n#SBATCH -A \u001b]0;owned\u0007 -t \u001b[2J\n#SBATCH --x\u001b[31m\u202egnp\necho\n',
    'many.sbatch': `#!/bin/bash\n${lines}\n#SBATCH -t 2\necho\n`,
    'large.sbatch': '#!/bin/bash\n#SBATCH -t 3\necho\n',
  });
  await truncate(join(folder, 'large.sbatch'), 100_000_000);
  const submit = (script: string) => scratch.run(['submit', script, '--dry-run', '--json'], { env, cwd: folder });
  for (const [script, reason] of [
    ['none.sbatch', /does not begin with #!/],
    ['windows.sbatch', /line ends of Windows/],
    ['binary.sbatch', /NUL characters/],
    ['large.sbatch', /NUL characters/],
  ] as const) {
    const refused = await submit(script);
    assert.equal(refused.exit, 2, script);
    assert.match(refused.stderr, reason);
    assert.match(refused.stderr, /Nothing was sent/);
  }
  await writeFile(join(folder, 'large.sbatch'), `#!/bin/bash\n#SBATCH -t 3\necho\n${'#'.repeat(100_000_000)}`);
  assert.equal(jsonLines((await submit('large.sbatch')).stdout)[0]?.['max_runtime'], 180);
  assert.equal(jsonLines((await submit('many.sbatch')).stdout)[0]?.['max_runtime'], 120);
  const shown = await scratch.run(['submit', 'control.sbatch', '--dry-run'], { env, cwd: folder });
  assert.equal(shown.exit, 0, shown.stderr);
  // oxlint-disable-next-line no-control-regex -- what must not be there
  assert.doesNotMatch(shown.stderr + shown.stdout, /[\u0000-\u0009\u000b-\u001f\u202e]/);
  assert.match(shown.stderr, /Line 2 of control\.sbatch, --account=.*control characters/);
});
