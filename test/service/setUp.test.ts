import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { test, type TestContext } from 'node:test';
import { freshClone, pack, unbuiltClone } from './support/packedPackage.ts';
import { temporaryFolder } from './support/service.ts';

const ROOT = resolve(import.meta.dirname, '../..');

/** Runs npm as a person does: it hands its own settings on to what it runs, which these tests are. */
function npm(args: readonly string[], cwd: string) {
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^npm_/i.test(name)));
  return spawnSync('npm', args, { cwd, env, encoding: 'utf8', shell: process.platform === 'win32' });
}

/** A project with the npm settings of this one, and a package that asks for a Node.js which no one has yet. */
async function projectAheadOfNode(t: TestContext): Promise<{ project: string; tarball: string }> {
  const folder = await temporaryFolder(t);
  const demanding = join(folder, 'demanding');
  mkdirSync(demanding);
  const manifest = { name: 'demanding', version: '1.0.0', engines: { node: '>=999' } };
  writeFileSync(join(demanding, 'package.json'), JSON.stringify(manifest));
  const tarball = pack(demanding, join(folder, 'packed'));
  const project = join(folder, 'project');
  mkdirSync(project);
  writeFileSync(join(project, 'package.json'), JSON.stringify({ private: true, engines: { node: '>=999' } }));
  return { project, tarball };
}

test('npm warns nobody of versions of Node.js that only its own scripts see, and still reports errors', async (t) => {
  const { project, tarball } = await projectAheadOfNode(t);
  const install = ['install', '--offline', '--no-audit', '--no-fund', tarball];
  assert.match(npm(install, project).stderr, /EBADENGINE/, 'without the settings of this project');
  cpSync(join(ROOT, '.npmrc'), join(project, '.npmrc'));
  const quiet = npm(install, project);
  assert.equal(quiet.status, 0);
  assert.doesNotMatch(quiet.stderr, /warn/i);
  const failed = npm(['install', '--offline', 'no-such-package-anywhere'], project);
  assert.notEqual(failed.status, 0);
  assert.match(failed.stderr, /npm error .*no-such-package-anywhere/);
});

for (const command of ['start', 'test']) {
  test(`npm ${command} says in one line that the packages are not installed`, async (t) => {
    const clone = freshClone(await temporaryFolder(t));
    const { status, stderr } = npm([command], clone);
    assert.equal(status, 1);
    assert.match(stderr, /^The packages that build Farwharf are not installed\. Run "npm ci" in .*\n$/);
  });
}

// As `npm ci --ignore-scripts` leaves a machine that has an older Node.js.
test('npm start says in one line what to do about a Node.js that is too old', async (t) => {
  const clone = unbuiltClone(await temporaryFolder(t));
  const manifest = join(clone, 'package.json');
  writeFileSync(manifest, readFileSync(manifest, 'utf8').replace(/"node": ">=[\d.]+"/, '"node": ">=999.1"'));
  const { status, stderr } = npm(['start'], clone);
  assert.equal(status, 1);
  assert.match(stderr, /^Farwharf needs Node\.js 999\.1 or newer, and this is [\d.]+\. Run "npm rebuild node".*\n$/);
});
