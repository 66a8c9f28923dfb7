import assert from 'node:assert/strict';
import { test } from 'node:test';
import { allowedEnvironment } from '../../../../src/core/processes/childEnvironment.ts';

test('a process gets the variables of a session, of languages and of proxies, and no keys', () => {
  const env = {
    PATH: '/bin',
    LC_ALL: 'C',
    https_proxy: 'http://proxy:3128',
    FARWHARF_API_KEY: 'secret',
    NODE_OPTIONS: '--require x',
    LCX: 'no language',
    EMPTY: undefined,
  };
  assert.deepEqual(allowedEnvironment(env), { PATH: '/bin', LC_ALL: 'C', https_proxy: 'http://proxy:3128' });
});

test('more variables are allowed by name, and those without a value are left out', () => {
  const env = { MORE: 'x', OTHER: 'y', HOME: undefined };
  assert.deepEqual(allowedEnvironment(env, ['MORE', 'MISSING']), { MORE: 'x' });
});
