import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { systemCode } from '../../../../src/core/errors.ts';
import {
  readEmbeddingChoice,
  vectorsFolder,
  writeEmbeddingChoice,
} from '../../../../src/retrieval/semantic/embeddingChoice.ts';
import { temporaryFolder } from '../../workspace/temporaryFolder.ts';

const FILES = 1_000;

test('a choice is taken back while a process still writes vectors', async (t) => {
  const home = temporaryFolder(t);
  const root = join(home, 'project');
  const folder = vectorsFolder(home, root);
  const write = (name: string): Promise<void> => writeFile(join(folder, name), 'a vector');
  await writeEmbeddingChoice(home, root, { provider: 'local' });
  for (let index = 0; index < FILES; index++) await write(`${index}.vectors`);
  const over = new AbortController();
  const removed = writeEmbeddingChoice(home, root, undefined).finally(() => over.abort());
  removed.catch(() => {}); // awaited below
  for (let index = 0; !over.signal.aborted; index++) {
    await write(`late-${index}.vectors`).catch((error: unknown) => assert.equal(systemCode(error), 'ENOENT'));
  }
  await removed;
  assert.equal(existsSync(folder), false);
  assert.equal(await readEmbeddingChoice(home, root), undefined);
});
