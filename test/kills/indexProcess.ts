// A process that changes a folder and its index without end, to be killed: node indexProcess.ts ROOT HOME SEED
// It prints a line when all of the folder is in the index, and for each change what it will make, and that it is kept.
import { hash } from 'node:crypto';
import { mkdirSync, renameSync, rmSync, writeFileSync, writeSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { Index } from '../../src/retrieval/index/index.ts';
import { selectSearchable } from '../../src/workspace/select/searchableFiles.ts';
import { seeded } from '../random.ts';
import { randomText } from '../unit/retrieval/randomCorpus.ts';

/** A line of this process: the hash of each file, null for one that is not there. */
export interface IndexLine {
  readonly type: 'all' | 'begun' | 'kept';
  readonly files: Readonly<Record<string, string | null>>;
}

const [root = '', home = '', seed = '1'] = process.argv.slice(2);
const random = seeded(Number(seed));
const anyPath = (): string => `d${random(3)}/f${random(6)}.txt`;
const print = (line: IndexLine): unknown => writeSync(1, `${JSON.stringify(line)}\n`);
const workerProgram = join(import.meta.dirname, '../../src/retrieval/index/indexWorker.ts');
const index = await Index.open({ root, home, workerProgram });
await index.sync((await selectSearchable(root, { isTrusted: false })).files);
print({ type: 'all', files: Object.fromEntries([...index.sources()].map(({ path, hash: known }) => [path, known])) });
for (;;) {
  const path = anyPath();
  const other = anyPath();
  const text = randomText(random, 40, 60);
  const known = hash('sha256', text, 'hex').slice(0, 32);
  const action = random(8);
  const files = action === 0 ? { [path]: null } : action === 1 ? { [path]: null, [other]: known } : { [path]: known };
  print({ type: 'begun', files });
  mkdirSync(dirname(join(root, path)), { recursive: true });
  if (action === 0) rmSync(join(root, path), { force: true });
  else writeFileSync(join(root, path), text);
  if (action === 1) {
    mkdirSync(dirname(join(root, other)), { recursive: true });
    renameSync(join(root, path), join(root, other));
  }
  await index.update(Object.keys(files));
  if (index.problem === undefined) print({ type: 'kept', files });
}
