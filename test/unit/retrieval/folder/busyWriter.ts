// A process that changes a folder and its index without end, to be killed: node busyWriter.ts ROOT HOME SEED
import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { FolderIndex } from '../../../../src/retrieval/folder/folderIndex.ts';
import { selectSearchable } from '../../../../src/workspace/searchableFiles.ts';
import { seeded } from '../../../random.ts';
import { randomText } from '../randomCorpus.ts';

const [root = '', home = '', seed = '1'] = process.argv.slice(2);
const random = seeded(Number(seed));
const anyPath = (): string => `d${random(3)}/f${random(6)}.txt`;
const index = await FolderIndex.open({ root, home });
await index.sync((await selectSearchable(root, { isTrusted: false })).files);
process.stdout.write('ready');
for (;;) {
  const path = anyPath();
  const other = anyPath();
  mkdirSync(dirname(join(root, path)), { recursive: true });
  const action = random(8);
  if (action === 0) rmSync(join(root, path), { force: true });
  else writeFileSync(join(root, path), randomText(random, 40, 60));
  if (action === 1) {
    mkdirSync(dirname(join(root, other)), { recursive: true });
    renameSync(join(root, path), join(root, other));
  }
  await index.update(action === 1 ? [path, other] : [path]);
}
