import assert from 'node:assert/strict';
import { test } from 'node:test';
import { secretName, secretPath, secretValue } from '../../../../src/remote/protocol/secret.ts';

const refusalOf = (schema: typeof secretName, value: string): string | undefined =>
  schema.safeParse(value).error?.issues[0]?.message;

test('the name of a secret is that of a variable in capital letters', () => {
  for (const name of ['A', '_', 'HF_TOKEN', 'A1', 'X'.repeat(64)])
    assert.equal(refusalOf(secretName, name), undefined, name);
  const letters = 'must be capital letters, digits and "_", and not begin with a digit';
  for (const name of ['', '1A', 'a', 'A-B', 'A B', 'A\n', 'É'])
    assert.equal(refusalOf(secretName, name), letters, name);
  assert.equal(refusalOf(secretName, 'X'.repeat(65)), 'must have at most 64 characters');
});

test('no secret is a variable that changes which programs run or how they load', () => {
  const names =
    'LD_PRELOAD DYLD_X FARWHARF_KEY SLURM_JOB_ID SBATCH_X SRUN_X PYTHONPATH PERL5LIB RUBYOPT RUBYLIB LUA_PATH BASH_ENV BASHOPTS ' +
    'SHELLOPTS NODE_OPTIONS NODE_PATH NODE_EXTRA_CA_CERTS NODE_V8_COVERAGE ELECTRON_RUN_AS_NODE PATH HOME SHELL USER LOGNAME PWD ' +
    'OLDPWD ENV IFS CDPATH PS0 PS4 PROMPT_COMMAND TMPDIR TMP TEMP VIRTUAL_ENV CONDA_PREFIX GCONV_PATH GLIBC_TUNABLES LOCPATH ' +
    'NLSPATH HOSTALIASES RES_OPTIONS LOCALDOMAIN MALLOC_CHECK_ JAVA_TOOL_OPTIONS JDK_JAVA_OPTIONS _JAVA_OPTIONS CLASSPATH ' +
    'DOTNET_X COR_PROFILER CORECLR_PROFILER GIT_SSH GIT_SSH_COMMAND GIT_EXEC_PATH GIT_CONFIG_COUNT GIT_PROXY_COMMAND ' +
    'GIT_EXTERNAL_DIFF GIT_EDITOR GIT_PAGER GIT_ASKPASS GIT_DIR GIT_TEMPLATE_DIR SSH_ASKPASS EDITOR VISUAL PAGER BROWSER LESSOPEN ' +
    'LESSCLOSE TERMINFO_DIRS TERMCAP OPENSSL_CONF SSL_CERT_FILE CUDA_VISIBLE_DEVICES';
  for (const name of names.split(' ')) {
    assert.equal(refusalOf(secretName, name), 'is a variable that changes which programs run or how they load', name);
  }
  for (const name of [
    'XPATH',
    'PATHS',
    'MY_LD_X',
    'RUBY',
    'NODE_ENV',
    'PS5',
    'GIT_TOKEN',
    'USERS',
    'HOME_URL',
    'SSL_KEY',
  ]) {
    assert.equal(refusalOf(secretName, name), undefined, name);
  }
});

test('the value of a secret has 4 bytes to 32 KB, without NUL', () => {
  for (const value of ['abcd', 'éé', 'a\nb ', 'x'.repeat(32 * 1024)])
    assert.equal(refusalOf(secretValue, value), undefined);
  assert.equal(refusalOf(secretValue, 'abc'), 'must have at least 4 characters');
  assert.equal(refusalOf(secretValue, ''), 'must have at least 4 characters');
  assert.equal(refusalOf(secretValue, 'x'.repeat(32 * 1024 + 1)), 'must have at most 32 KB');
  assert.equal(refusalOf(secretValue, 'é'.repeat(16 * 1024 + 1)), 'must have at most 32 KB');
  assert.equal(refusalOf(secretValue, 'ab\0cd'), 'must not contain NUL');
});

test('the path of a secret is one segment', () => {
  assert.equal(secretPath('A/B?c'), '/v1/secrets/A%2FB%3Fc');
});
