import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { evaluatedFile } from '../../../../../src/flows/run/evals/dataSet.ts';

test('a data set belongs to the flow file beside it with the longest name that its own begins with', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'farwharf-evaluated-'));
  t.after(() => rm(folder, { recursive: true }));
  for (const name of ['talk.ts', 'talk.long.mts', 'other.py']) await writeFile(join(folder, name), '');
  await mkdir(join(folder, 'folder.ts'));
  const found = async (name: string): Promise<string | undefined> =>
    (await evaluatedFile(join(folder, name)))?.slice(folder.length + 1);
  assert.equal(await found('talk.cases.jsonl'), 'talk.ts');
  assert.equal(await found('talk.short.cases.csv'), 'talk.ts');
  assert.equal(await found('talk.long.cases.jsonl'), 'talk.long.mts');
  assert.equal(await found('talk.long.more.cases.jsonl'), 'talk.long.mts');
  for (const name of ['other.cases.csv', 'folder.cases.csv', 'talk.jsonl', '.cases.jsonl', 'none.a.b.cases.csv']) {
    assert.equal(await found(name), undefined, name);
  }
});
