import assert from 'node:assert/strict';
import { test } from 'node:test';
import { combinations } from '../../../../src/jobs/profiles/matrix.ts';
import { findProfile, parseProfiles } from '../../../../src/jobs/profiles/profileFile.ts';
import { type ProfileChanges, profileJob } from '../../../../src/jobs/profiles/profileJob.ts';
import type { Profile } from '../../../../src/jobs/profiles/profileSchema.ts';

function problemsOf(profile: object): readonly string[] {
  const text = JSON.stringify({ profiles: { train: profile } });
  return parseProfiles(text).problems.map(({ message, start }) => `${text.slice(start, start + 12)} ${message}`);
}

const profile: Profile = {
  script: 'train.py',
  arguments: ['--lr', '${matrix:lr}', '--name=${matrix:name}'],
  environment: { SEED: '${matrix:seed}' },
  matrix: { lr: [0.1, 1e-7], name: ["it's me"], seed: [1, true] },
};

function jobOf(changes: ProfileChanges = {}) {
  const { profiles } = parseProfiles(JSON.stringify({ profiles: { train: profile } }));
  return profileJob(findProfile(profiles, 'train'), changes);
}

test('a matrix has every combination of its values, the last parameter changing first', () => {
  const found = combinations({ a: [1, 2], b: ['x', 'y'] }).map(({ a, b }) => `${a}${b}`);
  assert.deepEqual(found, ['1x', '1y', '2x', '2y']);
  assert.deepEqual(combinations({}), [{}]);
});

test('the parameters of a job are words of its command line and variables of its environment', () => {
  const job = jobOf();
  assert.equal(job.combinations.length, 4);
  const [, , , last] = job.combinations;
  const { script, venv } = job.terms({ env: {}, file: undefined, ...(last && { parameters: last }) });
  assert.equal(script, `train.py --lr 1e-7 '--name=it'\\''s me'`);
  assert.deepEqual(venv, { env: { SEED: 'true' } });
});

test('a chosen value replaces those of the matrix, and an unknown parameter is refused', () => {
  assert.deepEqual(jobOf({ parameters: { lr: 5, seed: 2 } }).combinations, [{ lr: 5, name: "it's me", seed: 2 }]);
  assert.throws(() => jobOf({ parameters: { sed: 2 } }), {
    code: 'bad-input',
    message: /no parameter sed, so nothing was sent\. Did you mean seed\?/,
  });
  assert.throws(() => jobOf({ parameters: { constructor: 2 } }), { code: 'bad-input' });
});

test('mistakes in a matrix are reported at their places', () => {
  const train = { script: 'train.py' };
  assert.deepEqual(problemsOf({ ...train, matrix: { lr: [1] } }), [
    '[1]}}}} Not used, so its jobs would be the same. Write ${matrix:lr}.',
  ]);
  assert.match(problemsOf({ script: 'a.py ${matrix:x}' }).join(), /"matrix" has no parameter x\./);
  assert.match(problemsOf({ ...train, concurrency: 2 }).join(), /Has no effect without "matrix"\./);
  const values = Array.from({ length: 100 }, (_, index) => index);
  const large = { script: 'a.py ${matrix:a} ${matrix:b}', matrix: { a: values, b: values } };
  assert.match(problemsOf(large).join(), /Has 10,000 combinations\. Must be at most 500\./);
  const reader = '${matrix:x}';
  for (const [field, place] of [
    [{ arguments: ['a', reader] }, `"${reader}"`],
    [{ machineClass: reader }, `"${reader}"`],
    [{ project: reader }, `"${reader}"`],
    [{ environment: { A: 'a', SEED: reader } }, `"${reader}"`],
  ] as const) {
    assert.deepEqual(problemsOf({ ...train, ...field }), [`${place.slice(0, 12)} "matrix" has no parameter x.`]);
    assert.deepEqual(problemsOf({ ...train, ...field, matrix: { x: [1] } }), []);
  }
  assert.deepEqual(problemsOf({ ...train, maxCost: 2 }), ['2}}} Has no effect without "matrix".']);
  const parameters = (count: number) => {
    const names = Array.from({ length: count }, (_, index) => `p${index}`);
    const script = `a.py ${names.map((name) => `\${matrix:${name}}`).join(' ')}`;
    return problemsOf({ script, matrix: Object.fromEntries(names.map((name) => [name, [1]])) }).join();
  };
  assert.deepEqual([parameters(1), parameters(20)], ['', '']);
  for (const count of [0, 21]) assert.match(parameters(count), /Must have 1 to 20 parameters\.$/);
  const exactly = { script: large.script, matrix: { a: values, b: values.slice(0, 5) } };
  assert.deepEqual(problemsOf(exactly), []);
  for (const value of [null, [], { a: 1 }, 'two\nlines']) {
    assert.equal(problemsOf({ script: 'a.py ${matrix:a}', matrix: { a: [value] } }).length, 1, JSON.stringify(value));
  }
});
