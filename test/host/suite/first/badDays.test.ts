import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { farwharfHome } from '../../../../src/core/files/home.ts';
import {
  emptyFolder,
  eventually,
  jobIn,
  logLinks,
  logWith,
  newestJob,
  prepareWorkspace,
  submit,
  workspaceFolder,
} from '../../support/inside.ts';
import { FIRST_LINE, LAST_LINE, SCRIPT } from '../../support/workspace.ts';

suite('bad days', () => {
  setup(emptyFolder);

  test('a job outlives its service, and its log continues where it was', async () => {
    const workspace = await prepareWorkspace('killed');
    await submit({ script: SCRIPT });
    await logWith(FIRST_LINE);
    const { id } = await jobIn('running');
    const state = readFileSync(join(farwharfHome(), 'service', 'state.json'), 'utf8');
    process.kill((JSON.parse(state) as { pid: number }).pid, 'SIGKILL');
    await workspace.open();
    const text = await logWith(LAST_LINE);
    assert.equal(text.split(FIRST_LINE).length, 2, `the first line is there once, in ${text}`);
    const job = await jobIn('succeeded');
    assert.equal(job.id, id);
  });

  test('a job that fails keeps its exit code and what it said', async () => {
    await writeFile(join(workspaceFolder(), 'broken.sh'), 'echo no such dataset >&2\nexit 3\n');
    await submit({ script: 'broken.sh' });
    await logWith('no such dataset');
    await jobIn('failed');
    // The state may arrive before the exit code, by an event of its own.
    assert.equal(await eventually(() => newestJob()?.exitCode ?? undefined, 'an exit code'), 3);
  });

  test('a traceback in the log leads to the line, also after the file was edited', async () => {
    const file = join(workspaceFolder(), 'broken.mjs');
    const source = "console.log('epoch 1');\n\nthrow new Error('no such column');\n";
    await writeFile(file, source);
    await submit({ script: 'broken.mjs' });
    await jobIn('failed');
    await logWith('Error: no such column\n    at ');
    assert.deepEqual(await logLinks(), [`${file}#L3,1`, `${file}#L3,7`]);
    await writeFile(file, `// A new line.\n${source}`);
    assert.deepEqual(await logLinks(), [`${file}#L4,1`, `${file}#L4,7`]);
  });

  test('a script that is not in the folder is refused, and no job remains', async () => {
    const before = newestJob()?.id;
    await writeFile(join(workspaceFolder(), 'train.py'), 'print(1)\n');
    assert.equal(await submit({ script: 'tarin.py' }), undefined);
    assert.equal(newestJob()?.id, before);
  });

  test('a job over its time limit is ended', async () => {
    await prepareWorkspace('endless');
    await submit({ script: SCRIPT, maxRuntime: 1 });
    await jobIn('timed_out');
  });
});
