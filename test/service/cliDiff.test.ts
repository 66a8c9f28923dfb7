import assert from 'node:assert/strict';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { jsonLines, Scratch } from './commandLine.ts';

test('what changed since a job was submitted, and between two jobs, is listed', async () => {
  await using scratch = await Scratch.create();
  const { env } = await scratch.serve();
  const folder = await scratch.folder('project', { 'run.sh': 'echo one\n', 'data.txt': 'a\n', 'old.txt': 'old\n' });
  const submit = async (): Promise<string> => {
    const { exit, stderr, stdout } = await scratch.run(['submit', folder, '--script', 'run.sh'], { env });
    assert.equal(exit, 0, stderr);
    return stdout.trim();
  };
  const first = await submit();
  const unchanged = await scratch.run(['diff', first], { env });
  assert.deepEqual([unchanged.exit, unchanged.stdout], [0, '']);
  assert.match(unchanged.stderr, /No file changed in .*project since job/);

  await writeFile(join(folder, 'run.sh'), 'echo two\n');
  await writeFile(join(folder, 'new file.txt'), 'new\n');
  await rm(join(folder, 'old.txt'));
  const changed = await scratch.run(['diff', first], { env });
  assert.equal(changed.stdout, 'A  new file.txt\nD  old.txt\nM  run.sh\n');
  assert.match(changed.stderr, /3 files changed in .*project since job/);

  const second = await submit();
  await writeFile(join(folder, 'data.txt'), 'b\n');
  const [between] = jsonLines((await scratch.run(['diff', first, second, '--json'], { env })).stdout);
  const changes = [
    { path: 'new file.txt', type: 'added' },
    { path: 'old.txt', type: 'deleted' },
    { path: 'run.sh', type: 'changed' },
  ];
  assert.deepEqual(between, { from: first, to: second, changes });
  assert.equal((await scratch.run(['diff', second], { env })).stdout, 'M  data.txt\n');

  const foreign = await scratch.run(['diff', 'never-sent'], { env });
  assert.equal(foreign.exit, 2);
  assert.match(foreign.stderr, /never-sent was not sent from this machine/);
});
