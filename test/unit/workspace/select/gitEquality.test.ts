import assert from 'node:assert/strict';
import { test } from 'node:test';
import { selectFiles } from '../../../../src/workspace/select/selection.ts';
import { seeded, TIMES } from '../../../random.ts';
import { git, temporaryFolder, writeTree } from '../temporaryFolder.ts';

const TREES = 8 * TIMES;
const NAMES = [
  'a',
  'b',
  'build',
  'foo',
  'foo.txt',
  'bar.log',
  'x y',
  ' lead',
  'end ',
  '#hash',
  '!bang',
  'a*b',
  '[x]',
  'q?',
  'é',
  'Z.TXT',
  '.hid',
];
const PATTERNS =
  String.raw`*.log|*.txt|foo|/foo|foo/|build/|/build|*|/*|*/|a|b|/a/b|a/b|a/*|a/**|**/foo|**/build/|a/**/b|/**/bar.log|foo*|?
|[ab]|[!a]|[a-c]oo|[[:alpha:]]|x\ y|end\ |\#hash|\!bang|a\*b|\[x\]|q\?|foo.txt   |é|[é]|??|.*|Foo|z.txt|*.TXT| lead|# a comment|`
    .replaceAll('\n', '')
    .split('|');

function randomTree(next: (below: number) => number): Record<string, string> {
  const pick = (items: readonly string[]): string => items[next(items.length)] ?? '';
  const folders = ['', ...Array.from({ length: 5 }, () => pick(NAMES))];
  for (let i = 0; i < 6; i++) folders.push([pick(folders), pick(NAMES)].filter(Boolean).join('/'));
  const files: Record<string, string> = {};
  const taken = new Set<string>(folders);
  for (const folder of folders) {
    for (let i = 0; i < 4; i++) {
      const path = [folder, pick(NAMES)].filter(Boolean).join('/');
      if (!taken.has(path)) files[path] = '';
    }
    if (next(3) > 0) continue;
    const rules = Array.from({ length: 1 + next(5) }, () => (next(3) === 0 ? '!' : '') + pick(PATTERNS));
    files[[folder, '.gitignore'].filter(Boolean).join('/')] = rules.join(next(4) === 0 ? '\r\n' : '\n');
  }
  // A name that is both a file and a folder cannot be written.
  const isFolder = (path: string): boolean => Object.keys(files).some((other) => other.startsWith(`${path}/`));
  return Object.fromEntries(Object.entries(files).filter(([path]) => !isFolder(path)));
}

test('on random trees, what is selected is what git lists, with git and without', async (t) => {
  if (process.platform === 'win32') return t.skip('Windows does not know such names');
  const differences: string[] = [];
  for (let seed = 1; seed <= TREES; seed++) {
    const root = temporaryFolder(t);
    const tree = randomTree(seeded(seed * 2_654_435));
    writeTree(root, tree);
    git(root, 'init');
    const listed = git(root, 'ls-files', '-co', '--exclude-standard', '-z').split('\0').filter(Boolean).sort();
    for (const isTrusted of [true, false]) {
      const { files, excluded } = await selectFiles(root, { isTrusted });
      // Names that only differ in case are the one extra exclusion that these trees can meet.
      const twins = excluded.filter(({ reason }) => reason === 'name').map(({ path }) => path);
      const sent = [...files.map(({ path }) => path), ...twins].sort();
      const wrong = [...new Set(sent).symmetricDifference(new Set(listed))];
      if (wrong.length > 0)
        differences.push(`tree ${seed}, ${isTrusted ? 'with' : 'without'} git: ${wrong.join(', ')}`);
    }
  }
  assert.deepEqual(differences, []);
});
