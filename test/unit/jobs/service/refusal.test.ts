import assert from 'node:assert/strict';
import { test } from 'node:test';
import { describeRefusal } from '../../../../src/jobs/service/explainFailure.ts';
import { RemoteError } from '../../../../src/remote/http/remoteErrors.ts';

const CASES: readonly (readonly [detail: string, sentence: string])[] = [
  ['meta.max_runtime: Too big: expected number to be <=2592000', 'The time limit: must be at most 2592000.'],
  ['meta.max_runtime: Too small: expected int to be >=1', 'The time limit: must be at least 1.'],
  ['meta.max_runtime: must be at most 60 seconds', 'The time limit: must be at most 60 seconds.'],
  [
    'meta.script: it must begin with a path inside the folder.',
    'The script: must begin with a path inside the folder.',
  ],
  ['meta.venv.python: must be a version', 'The Python environment (python): must be a version.'],
  [
    'meta.project: must be one line; meta.script: must be one line',
    'The project: must be one line. | The script: must be one line.',
  ],
  ['[{"loc":["body","machine_class"],"msg":"Unknown class","type":"x"}]', 'The machine class: Unknown class.'],
  ['[{"loc":["body","colour"],"msg":"Field required"}]', 'The request: body.colour: Field required.'],
  [
    '[{"loc":["body","colour"],"msg":"Field required"},{"loc":["body","size"],"msg":"Not a number"}]',
    'The request: body.colour: Field required; body.size: Not a number.',
  ],
  ['The field "meta" is not JSON.', 'The request: The field "meta" is not JSON.'],
  ['[not JSON', 'The request: [not JSON.'],
];

test('what a service says about a field becomes a sentence about it; everything else stays as it was said', () => {
  for (const [detail, expected] of CASES) {
    const message = describeRefusal(new RemoteError(400, `HTTP 400: ${detail}`), 'the service');
    const sentences = expected.split(' | ').map((one) => one.replace(/^The/, 'The service refused the'));
    assert.equal(message, sentences.join(' '));
  }
});

test('each field has its name, and a limit its words', () => {
  const said = (detail: string): string => describeRefusal(new Error(detail), 'x');
  for (const [field, name] of [
    ['max_runtime', 'time limit'],
    ['machine_class', 'machine class'],
    ['script', 'script'],
    ['project', 'project'],
    ['venv', 'Python environment'],
    ['tarball', 'archive'],
  ] as const) {
    for (const path of [field, `meta.${field}`, `body.${field}`, `body.meta.${field}`]) {
      assert.equal(said(`${path}: is wrong!`), `x refused the ${name}: is wrong!`, path);
    }
  }
  assert.equal(
    said('venv.env.A: Too small: expected string to be >=4'),
    'x refused the Python environment (env.A): must be at least 4.',
  );
  assert.equal(said('venv: Too big: expected array to be < 4'), 'x refused the Python environment: must be at most 4.');
  assert.equal(
    said('venv: Too big: expected array to be <= 4 items'),
    'x refused the Python environment: Too big: expected array to be <= 4 items.',
  );
  assert.equal(said('HTTP 400: why?'), 'x refused the request: why?');
  assert.equal(said('script: a; colour: b'), 'x refused the request: script: a; colour: b.');
  for (const text of ['[]', '[1]', '[{"loc":"a","msg":"b"}]', '[{"loc":[],"msg":5}]']) {
    assert.equal(said(text), `x refused the request: ${text}.`);
  }
  assert.equal(said('[{"loc":["meta","venv",0],"msg":"no"}]'), 'x refused the Python environment (0): no.');
});
