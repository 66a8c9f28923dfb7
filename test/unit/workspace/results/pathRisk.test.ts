import assert from 'node:assert/strict';
import { test } from 'node:test';
import { riskOf } from '../../../../src/workspace/results/applyResults.ts';
import { isProtectedPath } from '../../../../src/workspace/results/protectedNames.ts';

test('ordinary results have no risk', () => {
  for (const path of [
    'out.txt',
    'out/model-1.bin',
    'a b/ü.csv',
    'main.py',
    'Makefile.txt',
    'my-package.json',
    'git',
    'env/x',
  ]) {
    assert.equal(riskOf(path), undefined, path);
  }
});

test('what git, an editor or a shell acts on is protected, in every spelling', () => {
  for (const path of [
    '.git/hooks/post-merge',
    'a/.GIT/config',
    '.gitmodules',
    '.gitattributes',
    '.vscode/tasks.json',
    '.devcontainer/devcontainer.json',
    '.husky/pre-commit',
    '.ssh/config',
    '.envrc',
    '.env',
    '.env.local',
    'a.code-workspace',
    'sub/A.Code-Workspace',
    'a b.code-workspace',
    'node_modules/.bin/tsc',
    '.git./config',
    '.git /config',
    '.git::$INDEX_ALLOCATION/config',
    '.g\u200bit/config',
    'git~1/config',
    'GITMOD~1',
    'vscode~2/tasks.json',
  ]) {
    assert.equal(riskOf(path), 'protected', path);
    assert.equal(isProtectedPath(path), true, path);
  }
  for (const path of ['a/.bin/b', 'git~a', 'x~1', '.gitx']) assert.equal(isProtectedPath(path), false, path);
});

test('what changes the next submit, and hidden names, are known', () => {
  for (const path of ['.gitignore', 'sub/.farwharfignore', '.GitIgnore']) assert.equal(riskOf(path), 'selection', path);
  for (const path of ['.profile', 'a/.config/b', '.gitignore/a', 'PROGRA~1/a', 'a/LONGNA~12.TXT']) {
    assert.equal(riskOf(path), 'hidden', path);
  }
});

test('a file that a tool runs or reads when its folder is opened is known, anywhere and in every case', () => {
  for (const path of [
    'AGENTS.md',
    'conftest.py',
    'package.json',
    'pnpm-workspace.yaml',
    'Makefile',
    'Cargo.toml',
    'pom.xml',
    'gradle-wrapper.jar',
    'nuget.config',
    'Directory.Packages.props',
    'autorun.inf',
    'lefthook-local.yml',
    'vite.config.mts',
    'gulpfile.js',
    'Gruntfile',
    'tsconfig.build.json',
    'mise.local.toml',
    'jupyter_server_config.py',
    'App.csproj',
    'all.sln',
    'all.slnx',
    'x.cabal',
    'link.url',
    'node_modules/a/index.js',
    'env/conda-meta/history',
    'lib/site-packages/a.py',
  ]) {
    assert.equal(riskOf(path), 'tool', path);
    assert.equal(riskOf(`deep er/${path.toUpperCase()}`), 'tool', path);
  }
});
