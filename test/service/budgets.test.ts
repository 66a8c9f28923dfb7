import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { globSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, resolve, sep } from 'node:path';
import { before, test } from 'node:test';
import { isFresh } from '../../scripts/build.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const DIST = join(ROOT, 'dist');
const KB = 1_000;
const MAX_ENTRY = 150 * KB;
const MAX_FEATURES = 880 * KB;
const MAX_LAZY_CHUNK = 700 * KB;
const MAX_WEBVIEW = 150 * KB;

const sizeOf = (path: string): number => statSync(path).size;

before(() => assert.ok(isFresh('extension.js'), 'dist is older than the sources: run `npm run build` first.'));

/** Activates the built extension in a process of its own, with a stand-in for VS Code. */
function activate(): { readonly calls: readonly string[]; readonly loaded: readonly string[] } {
  const args = ['--import', join(import.meta.dirname, 'support/recordActivation.ts'), 'bench/support/activateOnce.ts'];
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { cwd: ROOT, encoding: 'utf8' });
  assert.equal(status, 0, stderr);
  assert.match(stdout, /activateMs/);
  return JSON.parse(stderr) as ReturnType<typeof activate>;
}

test('activation loads at most 150 KB, opens no connection, lists no folder, and starts no process or thread', () => {
  const { calls, loaded } = activate();
  assert.deepEqual(calls, []);
  const entry = loaded.filter((path) => path.startsWith(DIST + sep));
  assert.ok(entry.includes(join(DIST, 'extension.js')));
  const bytes = entry.reduce((sum, path) => sum + sizeOf(path), 0);
  assert.ok(bytes <= MAX_ENTRY, `${bytes} bytes in ${entry.join(', ')}`);
});

test('the features start with at most 880 KB, no file that is loaded later exceeds 700 KB, and none of a webview 150 KB', () => {
  const loaded = new Set<string>();
  const load = (path: string): void => {
    if (loaded.has(path)) return;
    loaded.add(path);
    // Assigned at once; what is loaded on first use is passed to `then`.
    for (const [, name = ''] of readFileSync(path, 'utf8').matchAll(/\w=require\("(\.[^"]+)"\)/g))
      load(join(dirname(path), name));
  };
  load(join(DIST, 'features.js'));
  assert.ok(loaded.size > 1);
  const bytes = [...loaded].reduce((sum, path) => sum + sizeOf(path), 0);
  assert.ok(bytes <= MAX_FEATURES, `${bytes} bytes in ${[...loaded].join(', ')}`);
  const chunks = globSync(['*.{js,mjs}', 'chunks/*'], { cwd: DIST }).filter((path) => !loaded.has(join(DIST, path)));
  const webviews = globSync('webview/*', { cwd: DIST });
  assert.ok(chunks.length > 0 && webviews.length > 0);
  const tooLarge = (paths: readonly string[], most: number): readonly string[] =>
    paths.filter((path) => sizeOf(join(DIST, path)) > most);
  assert.deepEqual(tooLarge(chunks, MAX_LAZY_CHUNK), []);
  assert.deepEqual(tooLarge(webviews, MAX_WEBVIEW), []);
});
