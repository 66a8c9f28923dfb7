import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { Store } from '../../src/service/store/store.ts';
import { temporaryFolder } from './support/service.ts';

const ROOT = join(import.meta.dirname, '../..');
// Each is the last commit before something that restricts was added.
const VERSIONS = [
  { commit: '26a0fd87', before: 'scopes and budgets of keys' },
  { commit: 'b12f8442', before: 'drains' },
];

/** The sources of an earlier commit, which run as they are; undefined if this copy of the repository has no such history. */
async function earlierSources(t: TestContext, commit: string): Promise<string | undefined> {
  if (spawnSync('git', ['cat-file', '-e', `${commit}^{commit}`], { cwd: ROOT }).status !== 0) {
    t.skip(`NOT TESTED: this copy of the repository does not have the commit ${commit}`);
    return undefined;
  }
  const folder = join(await temporaryFolder(t), 'earlier');
  mkdirSync(folder);
  const archive = execFileSync('git', ['archive', commit, 'src', 'package.json'], { cwd: ROOT, maxBuffer: 2 ** 28 });
  execFileSync('tar', ['-x', '-C', folder], { input: archive });
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  return join(folder, 'src');
}

function run(...args: readonly string[]): { readonly status: number | null; readonly output: string } {
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' });
  return { status, output: stdout + stderr };
}

for (const { commit, before } of VERSIONS) {
  test(`the version before ${before} refuses a store that has them, and can use the copy from before the upgrade`, async (t) => {
    const sources = await earlierSources(t, commit);
    if (sources === undefined) return;
    const data = await temporaryFolder(t);
    const store = join(data, 'service.db');
    const earlier = (...args: string[]) => run(join(sources, 'cli/main.ts'), ...args, '--data', data);
    const program = 'const { Store } = await import(process.argv[1]); new Store(process.argv[2]).dispose();';
    const made = run('--input-type=module', '-e', program, join(sources, 'service/store/store.ts'), data);
    assert.equal(made.status, 0, made.output);
    const added = earlier('admin', 'account', 'add', 'ada');
    assert.equal(added.status, 0, added.output);
    new Store(data).dispose();
    const upgraded = readFileSync(store);
    for (const args of [
      ['admin', 'account', 'list'],
      ['admin', 'key', 'add', 'ada'],
      ['serve', '--port', '0'],
    ]) {
      const refused = earlier(...args);
      assert.notEqual(refused.status, 0, refused.output);
      assert.match(refused.output, /later version of Farwharf/);
    }
    assert.deepEqual(readFileSync(store), upgraded, 'nothing was changed');
    const copy = `${store}.v2`;
    assert.ok(existsSync(copy));
    copyFileSync(copy, store);
    const listed = earlier('admin', 'account', 'list');
    assert.equal(listed.status, 0, listed.output);
    assert.match(listed.output, /ada/);
  });
}
