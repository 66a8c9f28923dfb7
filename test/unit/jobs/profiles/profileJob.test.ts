import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findProfile, parseProfiles } from '../../../../src/jobs/profiles/profileFile.ts';
import { type ProfileJob, profileJob } from '../../../../src/jobs/profiles/profileJob.ts';
import type { Profile } from '../../../../src/jobs/profiles/profileSchema.ts';
import { splitWords } from '../../../../src/core/text/splitWords.ts';

const jobOf = (profile: Profile, script?: string): ProfileJob => {
  const { profiles } = parseProfiles(JSON.stringify({ profiles: { train: profile } }));
  return profileJob(findProfile(profiles, 'train'), { script });
};

test('the values of a profile become the terms of a submit', () => {
  const job = jobOf({
    script: 'train.py --fast',
    arguments: ['--epochs', '3'],
    maxRuntime: 60,
    machineClass: 'a10g',
    project: 'vision',
    service: 'gpu.example.org',
    environment: { SEED: '1' },
    requirements: 'requirements.txt',
    modules: ['cuda/12.4'],
    container: 'docker://python:3.12',
    include: ['data/train.bin'],
    exclude: ['old'],
    results: 'results/train',
  });
  assert.deepEqual([job.service, job.variables, job.environment], ['gpu.example.org', [], ['SEED']]);
  assert.deepEqual(job.include, ['data/train.bin']);
  assert.deepEqual(job.terms({ env: {}, file: undefined }), {
    script: 'train.py --fast --epochs 3',
    maxRuntime: 60,
    machineClass: 'a10g',
    project: 'vision',
    include: ['data/train.bin'],
    exclude: ['old'],
    venv: { requirements: 'requirements.txt', env: { SEED: '1' } },
    cluster: { modules: ['cuda/12.4'], container: 'docker://python:3.12' },
    resultsFolder: 'results/train',
  });
});

test('variables are replaced, and the environment variables that a profile reads are known before', () => {
  const job = jobOf({
    script: '${file}',
    arguments: ['${workspaceFolder}/data', '${env:NAME} x', '--key=${env:NAME}'],
    environment: { TOKEN: '${env:TOKEN}', BOTH: '${env:A}${env:TOKEN}' },
  });
  assert.deepEqual(job.variables, ['A', 'NAME', 'TOKEN']);
  const { script = '', venv } = job.terms({ env: { A: 'a', NAME: "O'Neil", TOKEN: '${env:A}' }, file: 'my script.py' });
  assert.deepEqual(splitWords(script), ['my script.py', './data', "O'Neil x", "--key=O'Neil"]);
  assert.deepEqual(venv, { env: { TOKEN: '${env:A}', BOTH: 'a${env:A}' } });
});

test('a variable without a value is an error that names it', () => {
  const job = jobOf({ script: 'train.py', arguments: ['${env:TOKEN}'] });
  assert.throws(() => job.terms({ env: {}, file: undefined }), {
    code: 'missing',
    message: /variable TOKEN, which is not set/,
  });
  const open = jobOf({ script: '${file}' });
  assert.throws(() => open.terms({ env: {}, file: undefined }), { code: 'missing', message: /none is open/ });
});

test('another script replaces that of the profile with its arguments and what they read', () => {
  const job = jobOf({ script: '${file}', arguments: ['${env:TOKEN}'], maxRuntime: 60 }, 'other.py 1');
  assert.deepEqual(job.variables, []);
  const { script, maxRuntime } = job.terms({ env: {}, file: undefined });
  assert.deepEqual([script, maxRuntime], ['other.py 1', 60]);
});

test('a profile with a script alone adds nothing to it', () => {
  const { include, secrets, volumes, environment, variables, limits, combinations } = jobOf({ script: 'train.py' });
  assert.deepEqual([include, secrets, volumes, environment, variables], [[], [], [], [], []]);
  assert.deepEqual([limits, combinations], [{ concurrency: undefined, maxCost: undefined }, [{}]]);
});
