import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { failureReference } from '../../../../src/jobs/source/failureReference.ts';
import { SourceFiles } from '../../../../src/jobs/source/sourceFiles.ts';

const SUBMITTED_AT = new Date(Date.now() - 60_000).toISOString();

function folderWith(t: TestContext, ...files: readonly string[]): string {
  const folder = mkdtempSync(join(tmpdir(), 'farwharf-failure-'));
  t.after(() => rmSync(folder, { recursive: true }));
  for (const file of files) {
    mkdirSync(dirname(join(folder, file)), { recursive: true });
    writeFileSync(join(folder, file), '');
  }
  return folder;
}

async function failureIn(output: string, folder: string, notebook?: string): Promise<string | undefined> {
  const files = new SourceFiles({ folder, createdAt: SUBMITTED_AT });
  const found = await failureReference(output.split('\n'), files, notebook);
  const cell = found?.cell === undefined ? '' : ` cell ${found.cell}`;
  return found && `${found.path}${cell}:${found.line}`;
}

test('the innermost call of a Python trace is its last, and calls into libraries do not count', async (t) => {
  const folder = folderWith(t, 'train.py', 'data/load.py');
  const output = `epoch 1
Traceback (most recent call last):
  File "/srv/7/train.py", line 9, in <module>
    main()
  File "/srv/7/data/load.py", line 3, in load
    return json.loads(text)
  File "/usr/lib/python3.12/json/__init__.py", line 346, in loads
    return _default_decoder.decode(s)
json.decoder.JSONDecodeError: Expecting value`;
  assert.equal(await failureIn(output, folder), '/srv/7/data/load.py:3');
});

test('the innermost call of a Node.js trace is its first', async (t) => {
  const folder = folderWith(t, 'main.mjs', 'lib/step.mjs');
  const output = `Error: no data
    at parse (/srv/7/node_modules/parser/index.js:1:1)
    at step (file:///srv/7/lib/step.mjs:12:9)
    at main (file:///srv/7/main.mjs:3:1)
    at node:internal/main/run_main_module:1:1

Node.js v24.0.0`;
  assert.equal(await failureIn(output, folder), 'file:///srv/7/lib/step.mjs:12');
});

test('of a notebook it is the last own code in the coloured trace of the cell that failed, or else that cell', async (t) => {
  const folder = folderWith(t, 'a.ipynb', 'near.py');
  const trace = (cell: number, line: number) =>
    `\u001b[0;31m---\u001b[0m\nCell \u001b[0;32mIn [${cell}], line ${line}\u001b[0m\n\u001b[0;32m---> ${line}\u001b[0m x\n`;
  const end = 'cell 2 of 3 of a.ipynb failed: ValueError: 1';
  assert.equal(await failureIn(`${trace(2, 4)}ValueError\n${end}`, folder, 'a.ipynb'), 'a.ipynb cell 2:4');
  const deeper = `${trace(2, 4)}File \u001b[0;32m/job/near.py:3\u001b[0m, in load()\nValueError\n${end}`;
  assert.equal(await failureIn(deeper, folder, 'a.ipynb'), '/job/near.py:3');
  assert.equal(await failureIn(`${trace(1, 4)}shown by hand\n${end}`, folder, 'a.ipynb'), 'a.ipynb cell 2:1');
});

test('colours of a trace of Python are none of it', async (t) => {
  const output =
    '  File \u001b[35m"/srv/7/train.py"\u001b[0m, line \u001b[35m9\u001b[0m, in \u001b[35m<module>\u001b[0m';
  assert.equal(await failureIn(output, folderWith(t, 'train.py')), '/srv/7/train.py:9');
});

test('without a trace it is the last file that the output names, and without one nothing', async (t) => {
  const folder = folderWith(t, 'src/main.rs');
  assert.equal(await failureIn("a\nthread 'main' panicked at src/main.rs:4:5:\nno data\n", folder), 'src/main.rs:4');
  assert.equal(await failureIn('other.rs:4:5: no\nkilled', folder), undefined);
});

test('a file that was saved after the submit is marked as changed', async (t) => {
  const folder = folderWith(t, 'train.py');
  const find = (createdAt: string) => new SourceFiles({ folder, createdAt }).find('/srv/7/train.py');
  assert.equal((await find(SUBMITTED_AT))?.isChanged, true);
  assert.equal((await find(new Date(Date.now() + 60_000).toISOString()))?.isChanged, false);
});

test('output that names files without end looks at 500 of them', async (t) => {
  const folder = folderWith(t, 'train.py');
  const files = new SourceFiles({ folder, createdAt: SUBMITTED_AT });
  for (let index = 0; index < 500; index += 1) assert.equal(await files.find(`missing${index}.py`), undefined);
  assert.equal(await files.find('train.py'), undefined);
});
