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

test('these variables are inherited, and no others', () => {
  const names =
    'PATH HOME USER LOGNAME SHELL LANG LANGUAGE TZ TMPDIR TMP TEMP LD_LIBRARY_PATH CUDA_HOME CUDA_VISIBLE_DEVICES SSL_CERT_FILE SSL_CERT_DIR ' +
    'HTTP_PROXY HTTPS_PROXY NO_PROXY http_proxy https_proxy no_proxy SYSTEMROOT SYSTEMDRIVE WINDIR COMSPEC PATHEXT USERPROFILE APPDATA LOCALAPPDATA ' +
    'LC_ALL LC_TIME';
  const env = Object.fromEntries(names.split(' ').map((name) => [name, 'x']));
  assert.deepEqual(allowedEnvironment(env), env);
  assert.deepEqual(allowedEnvironment({ '': 'x', LD_PRELOAD: 'x', AWS_SECRET_ACCESS_KEY: 'x', XLC_ALL: 'x' }), {});
  assert.deepEqual(allowedEnvironment({ A: '', B: '1' }, new Set(['A', 'B'])), { A: '', B: '1' });
});
