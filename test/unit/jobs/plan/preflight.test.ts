import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AppError } from '../../../../src/core/errors.ts';
import {
  checkArchiveSize,
  describeFinding,
  type JobTerms,
  preflightJob,
  refuseErrors,
} from '../../../../src/jobs/plan/preflight.ts';

const account = {
  credits: 10,
  rate_card: [
    { machine_class: 'small', credits_per_minute: 0.1 },
    { machine_class: 'a10g', credits_per_minute: 0.5 },
  ],
  limits: { max_runtime: 86_400, max_upload_bytes: 1_000_000 },
};
const check = (reply: unknown, terms: Partial<JobTerms>) =>
  preflightJob(reply, { maxRuntime: 600, ...terms }, 'gpu.example.org');
const kinds = (reply: unknown, terms: Partial<JobTerms>) =>
  check(reply, terms).map(({ type, severity }) => `${type} ${severity}`);

test('a job within all limits has no findings, also at the limits themselves', () => {
  const atLimits = { machineClass: 'small', maxRuntime: 6_000, estimatedBytes: 1_000_000 };
  assert.deepEqual(kinds(account, atLimits), []);
  assert.deepEqual(kinds({ ...account, credits: 1_000 }, { machineClass: 'a10g', maxRuntime: 86_400 }), []);
  assert.deepEqual(kinds(account, {}), []);
});

test('each limit that is passed is a finding of its own', () => {
  assert.deepEqual(kinds(account, { machineClass: 'a10' }), ['machine-class error']);
  assert.deepEqual(kinds(account, { maxRuntime: 86_401 }), ['time-limit error']);
  assert.deepEqual(kinds(account, { machineClass: 'a10g', maxRuntime: 1_201 }), ['credits error']);
  assert.deepEqual(kinds(account, { estimatedBytes: 1_000_001 }), ['upload-size warning']);
  const all = { machineClass: 'b', maxRuntime: 1e9, estimatedBytes: 1e9 };
  assert.deepEqual(kinds(account, all), ['machine-class error', 'time-limit error', 'upload-size warning']);
});

test('what a service does not state is not checked, whatever it sends instead', () => {
  const wild = { machineClass: 'b', maxRuntime: 1e9, estimatedBytes: 1e9 };
  for (const reply of [
    undefined,
    {},
    { limits: null, rate_card: null },
    { limits: { max_runtime: '600', max_upload_bytes: -1 }, rate_card: [] },
    { rate_card: { b: 2 } },
    { rate_card: [{ machine_class: 'a', credits_per_minute: 1 }, { credits_per_minute: 2 }] },
  ]) {
    assert.deepEqual(kinds(reply, wild), [], JSON.stringify(reply));
  }
});

test('any name of a line of the rate card will do', () => {
  const reply = { rate_card: [{ id: 'gpu-1', name: 'One GPU', credits_per_minute: 1 }] };
  assert.deepEqual(kinds(reply, { machineClass: 'gpu-1' }), []);
  assert.deepEqual(kinds(reply, { machineClass: 'One GPU' }), []);
  assert.deepEqual(kinds(reply, { machineClass: 'gpu-2' }), ['machine-class error']);
});

test('missing credits are a warning where the service states no limits: it may allow an overdraft', () => {
  const { limits: _, ...spare } = account;
  assert.deepEqual(kinds(spare, { machineClass: 'a10g', maxRuntime: 3_600 }), ['credits warning']);
});

test('the sentences say what is wrong, what that means, and what there is', () => {
  const [unknown] = check(account, { machineClass: 'a10' });
  assert.equal(
    unknown && describeFinding(unknown),
    'Machine class "a10" does not exist on gpu.example.org. Available: small (0.1 credits a minute), ' +
      'a10g (0.5 credits a minute). Did you mean "a10g"?',
  );
  const [poor] = check(account, { machineClass: 'a10g', maxRuntime: 3_600 });
  assert.equal(
    poor && describeFinding(poor),
    'You need 20 more credits. The job can cost up to 30 credits, and you have 10.',
  );
  const many = Array.from({ length: 20 }, (_, index) => ({ machine_class: `class-${index}` }));
  const [long] = check({ rate_card: many }, { machineClass: 'other' });
  assert.match(long?.detail ?? '', /class-7 and 12 more\.$/);
  const [hostile] = check(account, { machineClass: 'x\u001b[2J' });
  assert.doesNotMatch(hostile?.summary ?? '', /\u001b/);
});

test('errors are refused, with a code of their own if only the balance is too low; warnings are not', () => {
  const codeOf = (terms: Partial<JobTerms>): string => {
    try {
      refuseErrors(check(account, terms));
      return 'accepted';
    } catch (error) {
      return error instanceof AppError ? error.code : String(error);
    }
  };
  assert.equal(codeOf({ machineClass: 'b' }), 'bad-input');
  assert.equal(codeOf({ machineClass: 'a10g', maxRuntime: 3_600 }), 'no-credits');
  assert.equal(codeOf({ machineClass: 'b', maxRuntime: 1e9 }), 'bad-input');
  assert.equal(codeOf({ estimatedBytes: 1e9 }), 'accepted');
});

test('a class of which the service says that no job can run is an error before anything is sent', () => {
  const why = 'It asks for 3 GPUs, and jobs can have 2.';
  const reply = { rate_card: [{ machine_class: 'a' }, { machine_class: 'many', unavailable: why }] };
  const [found] = check(reply, { machineClass: 'many' });
  assert.equal(found?.severity, 'error');
  assert.equal(describeFinding(found), `Machine class "many" is not available on gpu.example.org. ${why}`);
  assert.deepEqual(check(reply, { machineClass: 'a' }), []);
});

test('each finding is a sentence about the limit and one about what to do', () => {
  const said = (reply: unknown, terms: Partial<JobTerms>): readonly string[] =>
    check(reply, terms).map(describeFinding);
  assert.deepEqual(said(account, { maxRuntime: 90_000 }), [
    'A time limit of 1 d 1 h is too long for gpu.example.org. Jobs may run for at most 1 d (86400 seconds).',
  ]);
  assert.deepEqual(said(account, { estimatedBytes: 2_000_000 }), [
    'The archive may be too large for gpu.example.org. It will have about 2.0 MB, and at most 1.0 MB are accepted. Leave files out in .farwharfignore.',
  ]);
  const unpriced = { rate_card: [{ machine_class: 'a' }, { machine_class: 'b', credits_per_minute: 1.5 }] };
  assert.deepEqual(said(unpriced, { machineClass: 'zzzz' }), [
    'Machine class "zzzz" does not exist on gpu.example.org. Available: a, b (1.5 credits a minute).',
  ]);
  assert.deepEqual(said(account, { machineClass: '' }), []);
  const eight = Array.from({ length: 8 }, (_, index) => ({ machine_class: `class-${index}` }));
  assert.match(said({ rate_card: eight }, { machineClass: 'zzzz' })[0] ?? '', /class-6, class-7\.$/);
});

test('a refusal has every error, and only what is about credits is a lack of credits', () => {
  const finding = (type: 'credits' | 'budget' | 'script', severity: 'error' | 'warning' = 'error') =>
    ({ type, severity, summary: `S ${type}`, detail: `D ${type}.` }) as const;
  assert.throws(() => refuseErrors([finding('credits'), finding('script', 'warning'), finding('budget')]), {
    code: 'no-credits',
    message: 'S credits. D credits. S budget. D budget. Nothing was sent.',
  });
  assert.throws(() => refuseErrors([finding('script'), finding('credits')], ({ type }) => `<${type}>`), {
    code: 'bad-input',
    message: '<script> <credits> Nothing was sent.',
  });
  refuseErrors([finding('script', 'warning')]);
  refuseErrors([]);
});

test('an archive of the largest size is accepted, and a larger one is refused with both sizes', () => {
  checkArchiveSize(5, undefined);
  checkArchiveSize(1_000_000, 1_000_000);
  assert.throws(() => checkArchiveSize(1_100_000, 1_000_000), {
    code: 'limit',
    message:
      'The archive has 1.1 MB, and the service accepts at most 1.0 MB, so nothing was sent. Leave files out in .farwharfignore.',
  });
});
