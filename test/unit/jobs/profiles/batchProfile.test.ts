import assert from 'node:assert/strict';
import { test } from 'node:test';
import { batchProfile, type BatchSource } from '../../../../src/jobs/profiles/batchProfile.ts';

const FOLDER = '/home/ada/project';

function profileOf(options: readonly string[], more: Partial<BatchSource> & { readonly body?: string } = {}) {
  const { body = 'echo', ...source } = more;
  const text = ['#!/bin/bash', ...options.map((option) => `#SBATCH ${option}`), body, ''].join('\n');
  return batchProfile({ path: 'jobs/train.sh', text, folder: FOLDER, ...source });
}

const NO_VALUES = { env: {}, file: undefined };

test('a batch script is one job that runs it, with what its options say', () => {
  const profile = profileOf(['-t 10', '-A lab', '--export=MODE=fast', '-J "my name"']);
  const { terms, ...rest } = profile;
  assert.deepEqual(rest, {
    name: 'my-name',
    service: undefined,
    variables: [],
    include: [],
    secrets: [],
    volumes: [],
    environment: ['MODE'],
    combinations: [{}],
    limits: { concurrency: undefined, maxCost: undefined },
  });
  const { batch, ...intent } = terms(NO_VALUES);
  assert.deepEqual(intent, {
    script: 'jobs/train.sh',
    maxRuntime: 600,
    project: 'lab',
    venv: { env: { MODE: 'fast' } },
  });
  assert.equal(batch?.source, 'jobs/train.sh');
  assert.deepEqual(
    batch?.remarks.map(({ option }) => option),
    ['--job-name=my name'],
  );
});

test('a path that a shell would split is quoted, and a command line replaces it', () => {
  assert.equal(profileOf([], { path: 'my job.sh' }).terms(NO_VALUES).script, '"my job.sh"');
  const { script, batch } = profileOf([], { script: 'bash jobs/train.sh --fast' }).terms(NO_VALUES);
  assert.deepEqual([script, batch?.source], ['bash jobs/train.sh --fast', 'jobs/train.sh']);
  assert.ok(!('venv' in profileOf([]).terms(NO_VALUES)));
});

test('the name is that of the job, or of the script, as a folder can have it', () => {
  const named = (title: string): string => profileOf([`--job-name='${title}'`]).name;
  assert.equal(profileOf([]).name, 'train');
  assert.equal(profileOf([], { path: 'a b/.x.sh' }).name, 'x');
  assert.equal(named('a/../b c'), 'a-..-b-c');
  assert.equal(named('..-up'), 'up');
  assert.equal(named('...'), 'array');
  assert.equal(named('x'.repeat(65)), 'x'.repeat(64));
});

test('an array is a sweep with a job for each task, each with its number', () => {
  const profile = profileOf(['--array=2-6:2%2', '--export=MODE=fast'], {
    body: 'echo $SLURM_ARRAY_TASK_COUNT $SLURM_ARRAY_TASK_MIN $SLURM_ARRAY_TASK_MAX',
  });
  assert.deepEqual(
    profile.combinations,
    [2, 4, 6].map((task) => ({ SLURM_ARRAY_TASK_ID: task })),
  );
  assert.equal(profile.limits.concurrency, 2);
  const names = [
    'MODE',
    'SLURM_ARRAY_TASK_COUNT',
    'SLURM_ARRAY_TASK_ID',
    'SLURM_ARRAY_TASK_MAX',
    'SLURM_ARRAY_TASK_MIN',
  ];
  assert.deepEqual(profile.environment, names);
  assert.deepEqual(profile.terms({ ...NO_VALUES, parameters: { SLURM_ARRAY_TASK_ID: 4 } }).venv?.['env'], {
    MODE: 'fast',
    SLURM_ARRAY_TASK_COUNT: '3',
    SLURM_ARRAY_TASK_ID: '4',
    SLURM_ARRAY_TASK_MAX: '6',
    SLURM_ARRAY_TASK_MIN: '2',
  });
});

test('an array with more tasks than a sweep has jobs is refused, with the way out', () => {
  const remarks = (tasks: number) => profileOf([`--array=1-${tasks}`]).terms(NO_VALUES).batch?.remarks;
  assert.deepEqual(remarks(500), []);
  assert.deepEqual(remarks(1_001), [
    {
      line: 2,
      option: '--array=1-1001',
      reason: 'It has 1,001 tasks, and a sweep has at most 500 jobs. Submit it in parts.',
      isFatal: true,
    },
  ]);
  assert.equal(profileOf(['--array=1-500']).combinations.length, 500);
  assert.deepEqual(profileOf(['--array=1-501']).combinations, [{}]);
});

test('a working folder other than the one that is sent is said', () => {
  const remarks = (path: string) => profileOf([`--chdir=${path}`]).terms(NO_VALUES).batch?.remarks;
  assert.deepEqual(remarks(FOLDER), []);
  assert.deepEqual(remarks('/scratch'), [
    {
      line: 2,
      option: '--chdir=/scratch',
      reason: `A job starts in the folder that is sent, ${FOLDER}. Send another folder, or change it in the script.`,
    },
  ]);
});

test('of the variables of Slurm, a job gets those that its script reads and whose values are known', () => {
  const body = 'echo $SLURM_SUBMIT_DIR $SLURM_JOB_NAME $SLURM_CPUS_PER_TASK $SLURM_NTASKS $SLURM_CPUS_ON_NODE';
  const env = (options: readonly string[], text = body) =>
    profileOf(options, { body: text }).terms(NO_VALUES).venv?.['env'];
  assert.deepEqual(env(['-c 3', '-n 2', '-J name']), {
    SLURM_SUBMIT_DIR: '.',
    SLURM_JOB_NAME: 'name',
    SLURM_CPUS_PER_TASK: '3',
    SLURM_NTASKS: '2',
    SLURM_CPUS_ON_NODE: '6',
  });
  assert.deepEqual(env([]), { SLURM_SUBMIT_DIR: '.' });
  assert.equal(env(['-c 3', '-n 2', '-J name'], 'echo'), undefined);
  assert.deepEqual(env(['--export=SLURM_JOB_NAME=own', '-J name'], 'echo $SLURM_JOB_NAME'), { SLURM_JOB_NAME: 'own' });
});
