import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { MAX_LISTED, summarizeSelection } from '../../../../src/jobs/selection/selectedFolder.ts';
import { Selections } from '../../../../src/jobs/selection/selections.ts';
import type { Selection } from '../../../../src/workspace/select/selection.ts';
import { temporaryFolder, writeTree } from '../../workspace/temporaryFolder.ts';

const MANY = 20_000;

test('a selection is packed by its id, with the files that were added, until it is released', async (t) => {
  const root = temporaryFolder(t);
  const folder = join(root, 'project');
  writeTree(folder, { 'train.py': 'print(1)', 'b.txt': 'text', '.env': 'KEY=1' });
  const source = join(root, 'runtime.mjs');
  writeFileSync(source, 'runtime');
  const selections = new Selections();
  const selected = await selections.select(folder, { isTrusted: false, recentScripts: ['train.py --lr 1', 'gone.py'] });
  assert.deepEqual([selected.fileCount, selected.totalBytes], [2, 12]);
  assert.deepEqual(selected.scripts, { recent: ['train.py --lr 1'], found: ['train.py'] });
  assert.deepEqual(selected.exclusions, [{ reason: 'secret', count: 1, paths: ['.env'] }]);

  const added = { path: '.farwharf/runtime.mjs', size: 7, mode: 0o644, mtimeMs: 0, source };
  const replaced = { path: 'b.txt', size: 7, mode: 0o644, mtimeMs: 0, source };
  const more = await selections.addFiles(selected.id, [added, replaced]);
  assert.deepEqual([more.fileCount, more.totalBytes], [3, 22]);
  await selections.checkScript(more.id, 'train.py');
  await assert.rejects(selections.checkScript(more.id, 'trian.py'), { code: 'missing', message: /train\.py/ });
  const manifest = join(root, 'manifest.json');
  await selections.pack(more.id, join(root, 'archive.tar.gz'), { manifest, segments: join(root, 'segments.json') });
  const packed = JSON.parse(readFileSync(manifest, 'utf8')) as { path: string; size: number }[];
  assert.deepEqual(
    packed.map(({ path, size }) => [path, size]),
    [
      ['.farwharf/runtime.mjs', 7],
      ['b.txt', 7],
      ['train.py', 8],
    ],
  );

  await selections.release(more.id);
  await assert.rejects(
    selections.pack(more.id, join(root, 'again'), { manifest, segments: join(root, 'segments.json') }),
    {
      code: 'conflict',
      message: /was lost\. Nothing was sent\. Submit again\./,
    },
  );
});

test('a summary lists the same number of rows however large the folder is, and counts all of them', () => {
  const paths = Array.from({ length: MANY }, (_, at) => `folder/${at}.py`);
  const selection: Selection = {
    root: '/w',
    files: paths.map((path, size) => ({ path, size, mode: 0o644, mtimeMs: 0 })),
    totalBytes: 1,
    excluded: paths.map((path) => ({ path: `${path}.pem`, type: 'file', reason: 'secret' })),
    findings: [],
  };
  const summary = summarizeSelection('1', selection);
  assert.deepEqual([summary.fileCount, summary.exclusionCount, summary.secretCount], [MANY, MANY, MANY]);
  const { largest, listedExclusions, secrets, scripts } = summary;
  for (const rows of [largest, listedExclusions, secrets, scripts.found]) assert.equal(rows.length, MAX_LISTED);
  assert.equal(largest[0]?.size, MANY - 1);
});

test('a summary has the largest files first, what is left out by reason, and each secret once', () => {
  const file = (path: string, size: number) => ({ path, size, mode: 0o644, mtimeMs: 0 });
  const excluded = [
    { path: 'c1', type: 'file', reason: 'cache' },
    { path: 's1', type: 'file', reason: 'secret' },
    { path: 'c2', type: 'file', reason: 'cache' },
    { path: 'c3', type: 'file', reason: 'cache' },
    { path: 'c4', type: 'file', reason: 'cache' },
  ] as const;
  const findings = [
    { type: 'secret', path: 's1', message: '' },
    { type: 'secret', path: 's2', message: '' },
    { type: 'large-file', path: 'b.py', message: '' },
  ] as const;
  const files = [file('c', 5), file('b.py', 9), file('a', 5), file('requirements.txt', 1)];
  const summary = summarizeSelection('7', { root: '/w', files, totalBytes: 20, excluded, findings }, ['b.py -x']);
  const { archiveBytes, ...rest } = summary;
  assert.ok(archiveBytes > 0);
  assert.deepEqual(rest, {
    id: '7',
    root: '/w',
    fileCount: 4,
    totalBytes: 20,
    largest: [files[1], files[2], files[0], files[3]],
    scripts: { recent: ['b.py -x'], found: ['b.py'] },
    exclusionCount: 5,
    exclusions: [
      { reason: 'secret', count: 1, paths: ['s1'] },
      { reason: 'cache', count: 4, paths: ['c1', 'c2', 'c3'] },
    ],
    listedExclusions: [excluded[1], excluded[0], excluded[2], excluded[3], excluded[4]],
    secretCount: 2,
    secrets: ['s1', 's2'],
    findingCount: 3,
    findings,
  });
  const nested = summarizeSelection('8', {
    root: '/w',
    files: [file('sub/requirements.txt', 1)],
    totalBytes: 1,
    excluded: [],
    findings: [],
  });
  assert.deepEqual(nested.scripts, { recent: [], found: [] });
});

test('a selection is held until it is released, and what is lost is said', async () => {
  const selections = new Selections();
  assert.equal(selections.isHolding, false);
  const { id } = selections.hold({ root: '/w', files: [], totalBytes: 0, excluded: [], findings: [] });
  assert.equal(selections.isHolding, true);
  await selections.release(id);
  assert.equal(selections.isHolding, false);
  await assert.rejects(selections.listLevel(id, ''), {
    code: 'conflict',
    message: 'The list of files to send was lost. Nothing was sent. Submit again.',
  });
});
