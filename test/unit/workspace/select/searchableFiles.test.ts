import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { inspectSearchable, selectSearchable } from '../../../../src/workspace/select/searchableFiles.ts';
import { temporaryFolder, writeTree } from '../temporaryFolder.ts';

const FILES: Record<string, string> = {
  '.gitignore': '*.log\nbuild/\n/top.txt\n!sub/keep.log\n',
  '.farwharfignore': 'data/raw/\n!build/chosen.md\n',
  '.env': 'KEY=1',
  'a.md': 'a',
  'top.txt': 'x',
  'debug.log': 'x',
  'sub/.gitignore': '*.tmp\n!b.tmp\n',
  'sub/b.tmp': 'b',
  'sub/c.tmp': 'c',
  'sub/keep.log': 'k',
  'sub/top.txt': 't',
  'sub/deep/d.md': 'd',
  'sub/deep/node_modules/x/index.js': 'x',
  'build/chosen.md': 'chosen',
  'build/out.md': 'out',
  'data/raw/r.csv': 'r',
  'data/ok.csv': 'ok',
  'venv/pyvenv.cfg': '',
  'venv/lib/v.py': 'v',
  'strange [name]*/s?.md': 's',
  'secret.md': ['ghp', 'a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8'].join('_'),
};

// With git, each check starts several processes, so only one path of each kind is checked alone.
const KINDS = [
  '.env',
  'top.txt',
  'sub',
  'sub/b.tmp',
  'sub/keep.log',
  'sub/deep/node_modules/x/index.js',
  'build',
  'build/chosen.md',
  'data/raw',
  'venv/lib',
  'strange [name]*/s?.md',
  'secret.md',
];

for (const isTrusted of [false, true]) {
  const how = isTrusted ? 'with git' : 'without git';

  test(`looking at some paths alone gives what looking at everything says of them, ${how}`, async (t) => {
    const root = temporaryFolder(t);
    writeTree(root, FILES);
    symlinkSync(join(root, 'sub'), join(root, 'link'));
    if (isTrusted) execFileSync('git', ['init', '-q'], { cwd: root });
    const whole = await selectSearchable(root, { isTrusted });
    const places = new Set(Object.keys(FILES).flatMap((path) => [path, dirname(path)]));
    places.delete('.');
    for (const only of [
      ...(isTrusted ? KINDS : [...places]).map((path) => [path]),
      [...places],
      ['gone.md'],
      ['link'],
      ['link/b.tmp', 'a.md'],
    ]) {
      const isWanted = (path: string): boolean => only.some((place) => path === place || path.startsWith(`${place}/`));
      const some = await selectSearchable(root, { isTrusted, only });
      const expected = whole.files.filter(({ path }) => isWanted(path));
      assert.deepEqual(some.files, expected, only.join());
      for (const { path, reason } of whole.excluded.filter(({ path }) => only.includes(path))) {
        const by = some.excluded.find((other) => path === other.path || path.startsWith(`${other.path}/`));
        assert.equal(by?.reason, reason, path);
      }
    }
  });
}

for (const isTrusted of [false, true]) {
  test(`a folder with a repository and no files has nothing that is left out, ${isTrusted ? 'with git' : 'without git'}`, async (t) => {
    const root = temporaryFolder(t);
    execFileSync('git', ['init', '-q'], { cwd: root });
    assert.deepEqual(await selectSearchable(root, { isTrusted }), { files: [], excluded: [] });
  });
}

test('a file that is known is not read for secrets again, and one that changed is', async (t) => {
  const root = temporaryFolder(t);
  writeFileSync(join(root, 'secret.md'), FILES['secret.md'] ?? '');
  const known = await inspectSearchable(root, ['secret.md'], { isKnown: () => true });
  assert.deepEqual(
    known.files.map(({ path }) => path),
    ['secret.md'],
  );
  const unknown = await inspectSearchable(root, ['secret.md'], { isKnown: () => false });
  assert.deepEqual([unknown.files, unknown.excluded[0]?.reason], [[], 'secret']);
});
