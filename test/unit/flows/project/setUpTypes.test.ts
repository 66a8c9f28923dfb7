import assert from 'node:assert/strict';
import { mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { setUpTypes } from '../../../../src/flows/project/setUpTypes.ts';

test('types are written into node_modules, again after an update, and never over the library itself', async () => {
  const scratch = await mkdtemp(join(tmpdir(), 'farwharf-types-'));
  try {
    const [folder, dist] = [join(scratch, 'my folder'), join(scratch, 'dist')];
    await assert.rejects(setUpTypes(folder, dist), /no types/);
    await mkdir(join(dist, 'flowTypes/agents'), { recursive: true });
    await writeFile(join(dist, 'flowTypes/agents/index.d.ts'), 'export declare const one: 1;\n');
    const { path, status } = await setUpTypes(folder, dist);
    assert.equal(status, 'written');
    assert.equal((await setUpTypes(folder, dist)).status, 'written');
    assert.match(await readFile(join(path, 'agents.d.ts'), 'utf8'), /types\/agents\/index\.js/);
    assert.match(await readFile(join(path, 'types/agents/index.d.ts'), 'utf8'), /one: 1/);
    await writeFile(join(path, 'package.json'), '{ "name": "farwharf", "version": "1.0.0" }');
    assert.equal((await setUpTypes(folder, dist)).status, 'installed');
    assert.match(await readFile(join(path, 'package.json'), 'utf8'), /1\.0\.0/);
  } finally {
    await rm(scratch, { recursive: true });
  }
});

test('types never replace files of others, wherever node_modules leads', async () => {
  const scratch = await mkdtemp(join(tmpdir(), 'farwharf-types-'));
  try {
    const [folder, dist, share] = [join(scratch, 'project'), join(scratch, 'dist'), join(scratch, 'share')];
    await mkdir(join(dist, 'flowTypes'), { recursive: true });
    await mkdir(join(share, 'farwharf'), { recursive: true });
    await writeFile(join(share, 'farwharf/jobs.sqlite'), 'all my jobs');
    await mkdir(folder);
    await symlink(share, join(folder, 'node_modules'));
    await assert.rejects(setUpTypes(folder, dist), { code: 'conflict', message: /node_modules\/farwharf contains/ });
    assert.deepEqual(await readdir(join(share, 'farwharf')), ['jobs.sqlite']);
  } finally {
    await rm(scratch, { recursive: true });
  }
});
