import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Memento } from 'vscode';
import { RecentSearches } from '../../../../../src/extension/search/index/recentSearches.ts';

function memory(): Memento {
  const values = new Map<string, unknown>();
  return {
    keys: () => [...values.keys()],
    get: <T>(key: string, fallback?: T) => (values.has(key) ? values.get(key) : fallback) as T,
    update: async (key: string, value: unknown) => {
      if (value === undefined) values.delete(key);
      else values.set(key, value);
    },
  };
}

test('searches are listed once, the newest first, and stay with the workspace', async () => {
  const workspace = memory();
  const recent = new RecentSearches(workspace);
  for (const query of ['retry', ' delay ', 'retry', ' ']) await recent.add(query);
  assert.deepEqual(recent.all, ['retry', 'delay']);
  assert.deepEqual(new RecentSearches(workspace).all, ['retry', 'delay']);
  for (let at = 0; at < 100; at += 1) await recent.add(`query ${at}`);
  assert.equal(recent.all.length, 20);
  assert.equal(recent.all[0], 'query 99');
});

test('one search or all are removed, and each change is reported', async () => {
  const workspace = memory();
  const recent = new RecentSearches(workspace);
  const seen: number[] = [];
  recent.onDidChange(() => seen.push(recent.all.length));
  await recent.add('retry');
  await recent.add('delay');
  await recent.remove('retry');
  assert.deepEqual(recent.all, ['delay']);
  await recent.clear();
  assert.deepEqual(recent.all, []);
  assert.deepEqual(workspace.keys(), []);
  assert.deepEqual(seen, [1, 2, 1, 0]);
});
