import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { globSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { Index } from '../../../../src/retrieval/index/index.ts';

const FIXTURE = join(import.meta.dirname, '../../../fixtures/ranking');
const FOLDER = join(FIXTURE, 'folder');
const RESULTS = join(FIXTURE, 'results.json');
const SHOWN = 3;

/** The first results, with the lines of their excerpts. */
async function rank(index: Index, query: string): Promise<string[]> {
  const hits = await index.search(query, SHOWN);
  return hits.map(({ path, startLine }) => `${path}:${startLine}`);
}

test('the first results of each query are those that were looked at', async (t) => {
  const home = await mkdtemp(join(tmpdir(), 'farwharf-golden-'));
  t.after(() => rm(home, { recursive: true, force: true }));
  using index = await Index.open({ root: FOLDER, home });
  const paths = globSync('**/*.*', { cwd: FOLDER }).map((path) => path.replaceAll('\\', '/'));
  const listed = paths.sort().map(async (path) => {
    const { size, mtimeMs } = await stat(join(FOLDER, path));
    return { path, size, mtimeMs };
  });
  await index.sync(await Promise.all(listed));
  const expected = JSON.parse(await readFile(RESULTS, 'utf8')) as Record<string, string[]>;
  const found: Record<string, string[]> = {};
  for (const query of Object.keys(expected)) found[query] = await rank(index, query);
  // After a change of ranking that is meant: look at each difference.
  if (process.env['FARWHARF_UPDATE_RANKS'] !== undefined) {
    await writeFile(RESULTS, `${JSON.stringify(found, undefined, 2)}\n`);
    return;
  }
  assert.deepEqual(found, expected);
});
