import assert from 'node:assert/strict';
import { test } from 'node:test';
import { workspacePaths } from '../../../../src/jobs/source/workspacePath.ts';

test('the folder of the job is dropped from an absolute path, one folder after the other', () => {
  assert.deepEqual(workspacePaths('/srv/7/src/train.py'), [
    'srv/7/src/train.py',
    '7/src/train.py',
    'src/train.py',
    'train.py',
  ]);
  assert.deepEqual(workspacePaths('C:\\7\\train.py'), ['C:/7/train.py', '7/train.py', 'train.py']);
  assert.deepEqual(workspacePaths('file:///7/my%20model.mjs'), ['7/my model.mjs', 'my model.mjs']);
  assert.deepEqual(workspacePaths('file:///100%/a.mjs'), ['100%/a.mjs', 'a.mjs']);
});

test('a relative path stands for itself, and a Java class for a file below the usual roots', () => {
  assert.deepEqual(workspacePaths('./src/main.rs'), ['src/main.rs']);
  const paths = workspacePaths('org/acme/Train.java');
  assert.ok(paths.includes('org/acme/Train.java') && paths.includes('src/main/java/org/acme/Train.java'));
});

test('code of others, and paths that lead out of the folder, stand for no file of it', () => {
  for (const path of [
    '/usr/lib/python3.12/json/decoder.py',
    '/srv/7/.venv/lib/python3.12/site-packages/torch/nn.py',
    '/srv/7/node_modules/zod/index.js',
    '/home/ada/.cargo/registry/src/a/lib.rs',
    'node:internal/modules/run_main.js',
    '<frozen importlib._bootstrap>',
    '../secret.py',
    '/srv/../../etc/passwd.py',
    '',
    '/',
    `/${'a/'.repeat(100)}a.py`,
  ]) {
    assert.deepEqual(workspacePaths(path), [], path);
  }
});
