import assert from 'node:assert/strict';
import { test } from 'node:test';
import { splitWords } from '../../../../src/core/text/splitWords.ts';
import { findProfile, parseProfiles } from '../../../../src/jobs/profiles/profileFile.ts';
import { type ProfileChanges, profileJob } from '../../../../src/jobs/profiles/profileJob.ts';

const parse = (profile: object) => parseProfiles(JSON.stringify({ profiles: { train: profile } }));
const problemsOf = (profile: object) => parse(profile).problems.map(({ message }) => message);
const jobOf = (profile: object, changes?: ProfileChanges) =>
  profileJob(findProfile(parse(profile).profiles, 'train'), changes);

/** The words of each job's command line. */
function wordsOf(profile: object, changes?: ProfileChanges, file?: string): readonly (readonly string[] | undefined)[] {
  const job = jobOf(profile, changes);
  return job.combinations.map((parameters) => {
    const { script = '' } = job.terms({ env: { USER: '7' }, file, parameters });
    return splitWords(script);
  });
}

test('the parameters of a notebook are its arguments: JSON, or texts that no other JSON is', () => {
  const parameters = {
    alpha: 0.5,
    names: ['a', "it's"],
    none: null,
    fast: true,
    text: 'small size',
    digits: '1',
    lines: 'a\nb',
    nested: { user: '${env:USER}', place: '${workspaceFolder}/data' },
    user: '${env:USER}',
  };
  assert.deepEqual(wordsOf({ script: "'a b.ipynb' seed=1", arguments: ['x=2'], parameters }), [
    [
      'a b.ipynb',
      'seed=1',
      'x=2',
      'alpha=0.5',
      `names=["a","it's"]`,
      'none=null',
      'fast=true',
      'text=small size',
      'digits="1"',
      'lines="a\\nb"',
      'nested={"user":"7","place":"./data"}',
      'user="7"',
    ],
  ]);
  assert.deepEqual(jobOf({ script: 'a.ipynb', parameters }).variables, ['USER']);
});

test('a sweep gives a notebook the values of its matrix, of their types', () => {
  const parameters = { alpha: '${matrix:alpha}', name: '${matrix:name}', title: 'a-${matrix:alpha}' };
  const matrix = { alpha: [0.1, true], name: ['1'] };
  const profile = { script: 'a.ipynb', parameters, matrix };
  assert.deepEqual(wordsOf(profile), [
    ['a.ipynb', 'alpha=0.1', 'name="1"', 'title=a-0.1'],
    ['a.ipynb', 'alpha=true', 'name="1"', 'title=a-true'],
  ]);
  assert.deepEqual(wordsOf(profile, { parameters: { alpha: 2, name: 3 } }), [
    ['a.ipynb', 'alpha=2', 'name="3"', 'title=a-2'],
  ]);
  assert.deepEqual(problemsOf({ script: 'a.ipynb', parameters: { a: ['${matrix:b}'] } }), [
    '"matrix" has no parameter b.',
  ]);
});

test('a chosen value is an argument as it is written, whatever the profile says', () => {
  const profile = { script: 'a.ipynb', parameters: { alpha: '${env:ALPHA}', beta: 1 } };
  const changes = { parameters: { alpha: '[1, "${env:USER}"]' } };
  assert.deepEqual(wordsOf(profile, changes), [['a.ipynb', 'beta=1', 'alpha=[1, "${env:USER}"]']]);
  assert.deepEqual(jobOf(profile, changes).variables, []);
  assert.throws(() => jobOf(profile, { parameters: { alpah: 1 } }), {
    code: 'bad-input',
    message: /no parameter alpah, so nothing was sent\. Did you mean alpha\? It has alpha, beta\./,
  });
});

test('another script replaces a notebook with its parameters', () => {
  const profile = { script: 'a.ipynb', parameters: { alpha: '${env:ALPHA}' } };
  assert.deepEqual(wordsOf(profile, { script: 'b.py 1' }), [['b.py', '1']]);
  assert.deepEqual(jobOf(profile, { script: 'b.py' }).variables, []);
  assert.throws(() => jobOf(profile, { script: 'b.ipynb', parameters: { alpha: 1 } }), { code: 'bad-input' });
});

test('parameters are refused for what is not a notebook, before or after its variables are read', () => {
  const parameters = { alpha: 1 };
  const problem = ['Needs a notebook as "script". Pass values to other scripts with "arguments".'];
  assert.deepEqual(problemsOf({ script: 'train.py a.ipynb', parameters }), problem);
  assert.deepEqual(problemsOf({ command: ['jupyter', 'execute', 'a.ipynb'], parameters }), problem);
  const open = { script: '${file}', parameters };
  assert.deepEqual(wordsOf(open, {}, 'open a.ipynb'), [['open a.ipynb', 'alpha=1']]);
  assert.throws(() => wordsOf(open, {}, 'train.py'), {
    code: 'bad-input',
    message:
      'Profile train has parameters for a notebook, and train.py is not one, so nothing was sent. Specify a notebook, or remove "parameters".',
  });
});

test('mistakes in parameters are reported', () => {
  const script = 'a.ipynb';
  for (const name of ['lambda', '1a', 'a-b', '', 'a b', 'x'.repeat(101)]) {
    assert.deepEqual(problemsOf({ script, parameters: { [name]: 1 } }), ['Must be the name of a variable in Python.']);
  }
  for (const text of ['${nope}', '\0', 'x'.repeat(4_001)]) {
    for (const value of [text, [[text]], { a: text }]) {
      assert.equal(problemsOf({ script, parameters: { a: value } }).length, 1, JSON.stringify(value));
    }
  }
  assert.deepEqual(problemsOf({ script, parameters: { a: [{ b: '${nope}' }] } }), [
    'Must be text without NUL. Its variables are ${env:NAME}, ${matrix:NAME}, ${workspaceFolder} and ${file}.',
  ]);
  assert.equal(problemsOf({ script, parameters: [1] }).length, 1);
  assert.deepEqual(problemsOf({ script, parameters: {} }), []);
});
