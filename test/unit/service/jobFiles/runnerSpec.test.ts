import { deepEqual, throws } from 'node:assert/strict';
import { test } from 'node:test';
import { parseRunnerSpec } from '../../../../src/service/jobFiles/runnerSpec.ts';

const SPEC = {
  jobId: 'job-1',
  runs: 'script',
  command: ['train.py', '--epochs', '3'],
  maxRuntimeSeconds: 60,
  killGraceMs: 500,
  maxLogBytes: 1_000,
  artifacts: 'artifacts',
  venv: { python: 'python3.11', requirements: ['numpy'], env: { SEED: '1' } },
};

test('a stored runner spec is read as it was written, with and without an environment', () => {
  for (const spec of [
    SPEC,
    { ...SPEC, runs: 'command' },
    { ...SPEC, venv: null },
    { ...SPEC, venv: { requirements: 'requirements.txt' } },
  ]) {
    deepEqual(parseRunnerSpec(JSON.stringify(spec)), spec);
  }
});

test('a runner spec of a job that an earlier version accepted runs a script, with the default limit of output', () => {
  const { maxLogBytes: _1, runs: _2, ...old } = SPEC;
  deepEqual(parseRunnerSpec(JSON.stringify(old)), { ...SPEC, maxLogBytes: 64_000_000 });
});

test('a damaged runner spec is refused', () => {
  for (const text of ['', 'null', '{}', JSON.stringify({ ...SPEC, command: [] })]) {
    throws(() => parseRunnerSpec(text));
  }
});
