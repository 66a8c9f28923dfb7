import assert from 'node:assert/strict';
import { test } from 'node:test';
import { describeRefusal } from '../../../../src/jobs/service/refusal.ts';
import { RemoteError } from '../../../../src/remote/http/errors.ts';

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
