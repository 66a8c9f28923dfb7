import assert from 'node:assert/strict';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { writeUnitGroups } from '../../../scripts/unitGroups.ts';

test('each test file is in exactly one group, and excluded files are in none', async (t) => {
  const root = await mkdtemp(join(tmpdir(), 'farwharf-groups-'));
  t.after(() => rm(root, { recursive: true }));
  await mkdir(join(root, 'test/unit/area'), { recursive: true });
  await mkdir(join(root, 'test/fuzz'));
  const paths = Array.from({ length: 30 }, (_, index) => `test/unit/area/file${index}.test.ts`);
  paths.push('test/unit/top.test.ts', 'test/fuzz/fuzz.test.ts');
  for (const path of [...paths, 'test/unit/area/helper.ts']) await writeFile(join(root, path), '');

  const groups = await writeUnitGroups(root, (path) => path !== 'test/unit/area/file7.test.ts');
  const sources = await Promise.all(groups.map((path) => readFile(path, 'utf8')));
  assert.deepEqual(
    sources.join('').trim().split('\n').toSorted(),
    paths
      .filter((path) => !path.endsWith('file7.test.ts'))
      .map((path) => `import '${pathToFileURL(join(root, path)).href}';`)
      .toSorted(),
  );
});
