// The installed npm package on one platform, or a single executable. The part of a name before the colon is its column in the matrix.
import assert from 'node:assert/strict';
import { cp, readFile, readdir, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { suite, test } from 'node:test';
import { jsonLines } from '../service/commandLine.ts';
import { given, installedScratch } from './support/given.ts';

const RESULTS = ['loss.png', 'metrics.json', 'samples.txt'];

suite('the installed package', { concurrency: 2 }, () => {
  test('main job: the quickstart trains as a job, and its results come home', async () => {
    await using scratch = await installedScratch();
    const folder = join(scratch.root, 'quickstart');
    await cp(join(given().examples, 'quickstart'), folder, { recursive: true });
    const args = ['submit', folder, '--script', 'train.mjs --seconds 1', '--watch', '--download'];
    const done = await scratch.run(args);
    assert.equal(done.exit, 0, done.stderr);
    assert.match(done.stdout, /step +loss +held out/);
    assert.match(done.stderr, /succeeded.*core-hours.*results in /);
    assert.doesNotMatch(done.stderr, /Warning|\n +at /);
    const names = await readdir(folder);
    for (const name of RESULTS) assert.ok(names.includes(name), `${name} is not among ${names.join(', ')}`);
    const picture = await readFile(join(folder, 'loss.png'));
    assert.equal(picture.subarray(1, 4).toString(), 'PNG');
    assert.match(await readFile(join(folder, 'samples.txt'), 'utf8'), /\S/);
  });

  // The rows of Node.js test the rest.
  const { isBrief } = given();
  if (!isBrief)
    test('flow: an example runs with farwharf/agents as it is installed, and again from its recording', async () => {
      await using scratch = await installedScratch();
      const cwd = join(scratch.root, 'agents');
      await cp(join(given().examples, 'agents'), cwd, { recursive: true });
      if (given().executable === undefined)
        await symlink(join(given().project, 'node_modules'), join(cwd, 'node_modules'), 'junction');
      const first = await scratch.run(['flow', 'run', 'research.mts'], { cwd });
      assert.equal(first.exit, 0, first.stderr);
      assert.match(first.stderr, /Research\/Write -> default/);
      assert.match(first.stderr, /done, after .* · run \d+-/);
      assert.doesNotMatch(first.stderr, /Warning/);
      const again = await scratch.run(['flow', 'run', 'research.mts', '--replay', 'last'], { cwd });
      assert.equal(again.exit, 0, again.stderr);
      assert.match(again.stderr, /Research\/Write -> default, .* recorded/);
    });

  test('search: a folder is indexed, and the words of a file lead to it', async () => {
    await using scratch = await installedScratch();
    const folder = join(scratch.root, 'agents');
    await cp(join(given().examples, 'agents'), folder, { recursive: true });
    const indexed = await scratch.run(['index', folder, '--json']);
    assert.equal(indexed.exit, 0, indexed.stderr);
    assert.equal(jsonLines(indexed.stdout)[0]?.['folder'], folder);
    const found = await scratch.run(['search', 'lighthouses path:library', '--folder', folder, '--json']);
    assert.equal(found.exit, 0, found.stderr);
    const [{ hits } = { hits: [] }] = jsonLines(found.stdout) as { hits: { path: string }[] }[];
    assert.equal(hits[0]?.path, 'library/lighthouses.md');
    assert.doesNotMatch(indexed.stderr + found.stderr, /Warning/);
  });

  if (!isBrief)
    test('serve: a service shows its account, runs a job, and stops at SIGTERM', async () => {
      await using scratch = await installedScratch();
      const service = await scratch.serve();
      const headers = { authorization: `Bearer ${service.key}` };
      const account = await fetch(new URL('/v1/me', service.url), { headers });
      assert.equal(account.status, 200, await account.clone().text());
      assert.equal(typeof ((await account.json()) as { credits: unknown }).credits, 'number');
      assert.equal((await fetch(new URL('/v1/me', service.url))).status, 401);
      const folder = await scratch.folder('project', { 'a.sh': 'echo hello; echo made > made.txt\n' });
      const args = ['submit', folder, '--script', 'a.sh', '--watch', '--download'];
      const done = await scratch.run(args, { env: service.env });
      assert.equal(done.exit, 0, done.stderr);
      assert.equal(done.stdout, 'hello\n');
      assert.equal(await readFile(join(folder, 'made.txt'), 'utf8'), 'made\n');
      assert.equal(await service.stop(), 0);
    });
});
