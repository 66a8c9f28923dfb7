import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { processOwner } from '../../../../../src/core/processes/processOwner.ts';
import { RunHistory } from '../../../../../src/flows/run/history/runHistory.ts';

test('the runs of a renamed file are listed under its new name, but one in progress continues under the old name', async (t) => {
  const home = await mkdtemp(join(tmpdir(), 'farwharf-renamed-'));
  t.after(() => rm(home, { recursive: true, force: true }));
  const [before, after, other] = ['before.mts', 'after.mts', 'other.mts'].map((name) => join(home, name));
  assert.ok(before !== undefined && after !== undefined && other !== undefined);
  const history = new RunHistory(home);
  const begin = async (file: string, owner?: string): Promise<string> =>
    (await history.begin({ file, ...(owner !== undefined && { owner }) })).record.id;
  const [ended, running, unrelated] = [await begin(before), await begin(before, processOwner()), await begin(other)];
  const earlier = await begin(after); // of a file that was there before
  await history.followRenames((file) => (file === before ? after : undefined));
  const idsOf = async (file: string): Promise<string[]> => (await history.list(file)).map(({ id }) => id).toSorted();
  assert.deepEqual(await idsOf(after), [earlier, ended].toSorted());
  assert.deepEqual([await idsOf(before), await idsOf(other)], [[running], [unrelated]]);
  assert.equal((await history.find(after, ended)).file, after);
});
