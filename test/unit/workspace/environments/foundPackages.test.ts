import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { findPackageLists } from '../../../../src/workspace/environments/foundPackages.ts';
import { temporaryFolder } from '../temporaryFolder.ts';

async function found(t: TestContext, script: string, contents: Readonly<Record<string, string>>) {
  const root = temporaryFolder(t);
  const files = Object.entries(contents).map(([path, text]) => {
    mkdirSync(join(root, dirname(path)), { recursive: true });
    writeFileSync(join(root, path), text);
    return { path, size: text.length, mode: 0o644, mtimeMs: 0 };
  });
  return findPackageLists({ root, files }, script);
}

test('what lists packages is found by the names that tools write, on top and beside the script', async (t) => {
  const names = [
    'renv.lock',
    'yarn.lock',
    'pnpm-lock.yaml',
    'package-lock.json',
    'requirements.txt',
    'pylock.gpu.toml',
  ];
  const locks = [...names, 'pylock.toml', 'pdm.lock', 'poetry.lock', 'uv.lock'];
  const files = Object.fromEntries(locks.map((name) => [name, '']));
  const expected = ['uv.lock', 'poetry.lock', 'pdm.lock', 'pylock.gpu.toml', 'pylock.toml', 'requirements.txt'];
  assert.deepEqual(await found(t, '', files), [
    ...expected,
    'package-lock.json',
    'pnpm-lock.yaml',
    'yarn.lock',
    'renv.lock',
  ]);
  const nested = { 'a/uv.lock': '', 'b/uv.lock': '', 'a/train.py': '' };
  assert.deepEqual(await found(t, 'a/train.py', nested), ['a/uv.lock']);
  assert.deepEqual(await found(t, '', {}), []);
});

test('a script that names its packages is offered for its own job only', async (t) => {
  const text = '# /// script\n# dependencies = ["tiny"]\n# ///\n';
  const files = { 'a.py': text, 'b.py': text, 'requirements.txt': '' };
  assert.deepEqual(await found(t, 'a.py', files), ['a.py', 'requirements.txt']);
  assert.deepEqual(await found(t, 'c.py', { ...files, 'c.py': 'print(1)' }), ['requirements.txt']);
});

test('an environment of conda is found under any name, by what is in it', async (t) => {
  const conda = {
    'environment.yml': 'name: x\ndependencies:\n  - numpy=2\n',
    'gpu.yaml': 'channels:\n  - conda-forge\ndependencies:\n- pip:\n  - torch\n',
    'env.yaml': 'dependencies: [numpy]\n',
    'dev.yml': 'dependencies: # of the project\n  # first\n  - "python>=3.11"\n',
  };
  const others = {
    'Chart.yaml': 'dependencies:\n  - name: postgresql\n    version: 1.0.0\n',
    'mkdocs.yml': 'site_name: x\n',
    'pnpm-workspace.yaml': 'packages: []\n',
    'sub/environment.yml': 'dependencies:\n  - numpy\n',
  };
  assert.deepEqual(await found(t, '', { ...conda, ...others }), Object.keys(conda));
});

test('a pyproject.toml is offered if it lists packages and nothing beside it lists them too', async (t) => {
  const project = { 'pyproject.toml': '[project]\nname = "x"\ndependencies = [\n  # for arrays\n  "numpy",\n]\n' };
  assert.deepEqual(await found(t, '', project), ['pyproject.toml']);
  assert.deepEqual(await found(t, '', { ...project, 'uv.lock': '' }), ['uv.lock']);
  assert.deepEqual(await found(t, '', { ...project, 'package-lock.json': '' }), [
    'package-lock.json',
    'pyproject.toml',
  ]);
  for (const text of ['[project]\ndependencies = []\n', '[tool.ruff]\n', '[tool.poetry.dependencies]\npython = "3"\n'])
    assert.deepEqual(await found(t, '', { 'pyproject.toml': text }), []);
});

test('anchors, comments and blocks without end are looked at once', async (t) => {
  const bomb = `a: &a [x,x]\nb: &b [*a,*a]\ndependencies:\n${'# '.repeat(5e6)}\n${'  '.repeat(5e6)}- &c [*b]\n`;
  const startedAt = process.cpuUsage();
  await found(t, '', {
    'bomb.yml': bomb,
    'lines.yml': `dependencies:\n${'#\n'.repeat(2e5)}`,
    'a.py': '# /// script\n'.repeat(1e5),
  });
  assert.ok(process.cpuUsage(startedAt).user < 5e6);
});
