import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  byReason,
  folderLines,
  indexState,
  indexSummary,
  nothingFound,
} from '../../../../../src/extension/search/index/indexText.ts';
import type { FolderStatus } from '../../../../../src/retrieval/server/folderIndex.ts';

const READY: FolderStatus = {
  folder: '/project',
  state: 'ready',
  files: 12_345,
  chunks: 40_000,
  bytes: 3_200_000,
  skipped: 3,
  pending: 0,
  progress: undefined,
  updatedAt: 60_000,
  isWriter: true,
  problem: undefined,
};
const building: FolderStatus = { ...READY, state: 'building', progress: { doneBytes: 30, totalBytes: 90 } };

test('an index that is as it should be has nothing to say but its size', () => {
  assert.equal(indexState([READY], false), '');
  assert.equal(indexSummary([READY, READY], false), '24,690 files');
});

test('building, pausing and failing are shown', () => {
  assert.equal(indexState([READY, building], false), 'building 33 %');
  assert.equal(indexState([READY], true), 'paused');
  assert.equal(indexSummary([{ ...READY, state: 'error' }], false), '12,345 files, error');
});

test('a search without results says whether the index could have known', () => {
  assert.equal(nothingFound([READY], false), 'No matches in 12,345 files.');
  assert.equal(nothingFound([], false), 'No results yet: the index is starting');
  assert.equal(nothingFound([building], false), 'No results yet: the index is building 33 %');
  const waiting: FolderStatus = { ...READY, state: 'waiting' };
  assert.match(nothingFound([waiting], false), /paused on battery, so recent changes are missing/);
  assert.match(
    nothingFound([{ ...waiting, files: 0 }], false),
    /^No results yet: .* paused on battery\. Run Resume Index/,
  );
  const empty: FolderStatus = { ...READY, files: 0 };
  assert.match(nothingFound([empty], false), /nothing to search, because every file is skipped\. The Index view/);
  assert.match(nothingFound([{ ...empty, skipped: 0 }], false), /nothing to search, because the folder has no files/);
  assert.equal(nothingFound([empty, READY], false), 'No matches in 12,345 files.');
  assert.match(nothingFound([empty], true), /^No matches in 0 files\. The index is paused, so/);
  assert.match(nothingFound([READY], true), /paused, so recent changes are missing/);
});

test('the view shows files, chunks, size, age, and the problem', () => {
  const lines = (status: FolderStatus): Record<string, string> =>
    Object.fromEntries(folderLines(status, 60_000 * 6).map(({ label, description }) => [label, description]));
  assert.deepEqual(lines(READY), {
    'Up to date': '',
    Files: '12,345',
    Chunks: '40,000',
    'Size on disk': '3.2 MB',
    Updated: '5 min ago',
  });
  assert.equal(lines({ ...READY, isWriter: false })['Up to date'], 'updated by another window');
  assert.equal(lines({ ...READY, updatedAt: undefined })['Updated'], 'not yet');
  const problem = { code: 'no-space', message: 'The disk is full.' };
  assert.equal(lines({ ...READY, state: 'error', problem })['Problem'], 'The disk is full.');
});

test('the view shows the progress of semantic ranking, and why there is none', () => {
  const line = (semantic: FolderStatus['semantic']): string | undefined =>
    folderLines({ ...READY, semantic }, 0).find(({ id }) => id === 'semantic')?.description;
  assert.equal(line(undefined), undefined);
  assert.equal(line({ type: 'ready' }), 'on');
  const unfinished = { type: 'unfinished', done: 1200, total: 5000 } as const;
  assert.equal(line(unfinished), '1,200 of 5,000 texts, keyword ranking only until then');
  assert.equal(
    line({ ...unfinished, reason: 'stopped' }),
    '1,200 of 5,000 texts, keyword ranking only until then (stopped)',
  );
  assert.equal(line({ type: 'failed', reason: 'There is no model.' }), 'keyword ranking only: There is no model.');
});

test('what is passed over is grouped by its reason, the most frequent first', () => {
  const items = ['binary', 'secret', 'binary'].map((reason, index) => ({
    path: `${index}`,
    type: 'file' as const,
    reason,
  }));
  assert.deepEqual(
    byReason(items).map(([reason, { length }]) => `${reason} ${length}`),
    ['binary 2', 'secret 1'],
  );
});
