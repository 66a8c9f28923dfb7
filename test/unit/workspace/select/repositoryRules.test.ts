import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { IgnoreRules } from '../../../../src/workspace/git/ignoreRules.ts';
import type { Repository } from '../../../../src/workspace/git/repository.ts';
import { readRepositoryRules } from '../../../../src/workspace/select/folderListing.ts';
import { temporaryFolder, writeTree } from '../temporaryFolder.ts';

const repositoryAt = (top: string, isOwn = true): Repository => ({
  top,
  gitFolder: join(top, '.git'),
  commonFolder: join(top, '.git'),
  isOwn,
});

test('the rules of a repository hold from its top down, those of its own exclude file first', async (t) => {
  const top = temporaryFolder(t);
  writeTree(top, {
    '.gitignore': '*.tmp\n!keep.log\n',
    '.git/info/exclude': '*.log\n',
    'a/.gitignore': 'only-a\n/anchored\n',
    'a/b/x': '',
  });
  const { git, prefix } = await readRepositoryRules(join(top, 'a/b'), repositoryAt(top));
  assert.equal(prefix, 'a/b/');
  const rules = await git.enter('a/b', false);
  assert.deepEqual(rules.test('a/b/x.tmp'), { isIgnored: true, isChosen: false, rule: '*.tmp', at: '.gitignore:1' });
  assert.deepEqual(rules.test('a/b/x.log'), {
    isIgnored: true,
    isChosen: false,
    rule: '*.log',
    at: '.git/info/exclude:1',
  });
  assert.deepEqual(rules.test('a/b/keep.log'), { isIgnored: false, isChosen: true, rule: undefined, at: undefined });
  assert.equal(rules.test('a/b/only-a').at, 'a/.gitignore:1');
  assert.equal(rules.test('a/b/anchored').isIgnored, false);
  assert.equal(rules.test('a/anchored').isIgnored, true);
  const ofTop = await readRepositoryRules(top, repositoryAt(top));
  assert.equal(ofTop.prefix, '');
  assert.equal((await ofTop.git.enter('', true)).test('x.log').isIgnored, true);
});

test('the exclude file of a repository of another user does not count', async (t) => {
  const top = temporaryFolder(t);
  writeTree(top, { '.gitignore': '*.tmp\n', '.git/info/exclude': '*.log\n' });
  const { git } = await readRepositoryRules(top, repositoryAt(top, false));
  const rules = await git.enter('', true);
  assert.deepEqual([rules.test('x.log').isIgnored, rules.test('x.tmp').isIgnored], [false, true]);
});

test('without a repository, or in a folder that it ignores, the rules begin with the folder', async (t) => {
  const top = temporaryFolder(t);
  writeTree(top, { '.gitignore': 'out/\n*.tmp\n', 'out/deep/.gitignore': '*.own\n' });
  for (const repository of [undefined, repositoryAt(top)]) {
    const { git, prefix } = await readRepositoryRules(join(top, 'out/deep'), repository);
    const rules = await git.enter('', true);
    assert.deepEqual([prefix, rules.test('x.tmp').isIgnored, rules.test('x.own').isIgnored], ['', false, true]);
  }
});

test('a rule keeps its place and text, and comments, blank lines and rules without a name are none', async (t) => {
  const base = temporaryFolder(t);
  writeTree(base, {
    '.ignore': '\uFEFF# comment\n\n/\n!\n  \n!/  \na.txt  \r\n\\#hash\n!b.txt\n',
    'sub[1]/.ignore': 'local\n!/anchored\ndeep/er\ntail/\n',
  });
  const rules = new IgnoreRules(base, '.ignore', [{ pattern: 'first', mark: 'elsewhere:7\nfirst' }]);
  const top = await rules.enter('', true);
  assert.equal(await rules.enter('', false), top, 'a folder is read once');
  assert.deepEqual(
    top.patterns.map(({ mark }) => mark),
    ['elsewhere:7\nfirst', '.ignore:7\na.txt  ', '.ignore:8\n\\#hash', '.ignore:9\n!b.txt'],
  );
  assert.deepEqual(top.test('x/first'), { isIgnored: true, isChosen: false, rule: 'first', at: 'elsewhere:7' });
  assert.deepEqual(top.test('a.txt'), { isIgnored: true, isChosen: false, rule: 'a.txt', at: '.ignore:7' });
  assert.deepEqual(top.test('#hash').rule, '\\#hash');
  assert.deepEqual(top.test('none'), { isIgnored: false, isChosen: false, rule: undefined, at: undefined });
  assert.equal(top.hasNegation, true);
  const below = await rules.enter('sub[1]', true);
  for (const [path, isIgnored] of [
    ['sub[1]/local', true],
    ['sub[1]/x/local', true],
    ['local', false],
    ['sub1/local', false],
    ['sub[1]/deep/er', true],
    ['sub[1]/x/deep/er', false],
    ['sub[1]/tail/', true],
    ['sub[1]/x/tail/', true],
    ['sub[1]/tail', false],
    ['sub[1]/a.txt', true],
  ] as const) {
    assert.equal(below.test(path).isIgnored, isIgnored, path);
  }
  assert.equal(await rules.enter('sub[1]/none', false), below, 'a folder without rules has those above');
  assert.equal((await rules.enter('sub[1]/none', true)).hasNegation, true);
});

test('without rules nothing is ignored, and letters count by their case and bytes', async (t) => {
  const base = temporaryFolder(t);
  const none = await new IgnoreRules(base, '.ignore').enter('', true);
  assert.deepEqual(
    [none.test('a'), none.hasNegation, none.patterns],
    [{ isIgnored: false, isChosen: false }, false, []],
  );
  writeTree(base, { '.ignore': `Name\n?.x\n${'y'.repeat(4_096)}\n${'z'.repeat(4_097)}\n` });
  const rules = await new IgnoreRules(base, '.ignore').enter('', true);
  assert.deepEqual([rules.test('Name').isIgnored, rules.test('name').isIgnored], [true, false]);
  assert.deepEqual([rules.test('a.x').isIgnored, rules.test('é.x').isIgnored], [true, false]);
  assert.deepEqual([rules.patterns.length, rules.hasNegation], [3, false]);
});
