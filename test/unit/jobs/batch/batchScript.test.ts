import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { readBatchScript } from '../../../../src/jobs/batch/batchScript.ts';
import { temporaryFolder } from '../../workspace/temporaryFolder.ts';

test('a batch script is one by its name or by its lines, and other files are none', async (t) => {
  const folder = temporaryFolder(t);
  const read = async (name: string, text: string): Promise<string | undefined> => {
    writeFileSync(join(folder, name), text);
    return readBatchScript(join(folder, name), name);
  };
  const options = '#!/bin/bash\n#SBATCH --time=5\n';
  for (const name of ['a.sbatch', 'b.SLURM', 'c.sh', 'd']) assert.equal(await read(name, options), options, name);
  assert.equal(await read('a.sbatch', '#!/bin/sh\necho\n'), '#!/bin/sh\necho\n', 'by its name alone');
  assert.equal(await read('e.sh', '#!/bin/sh\necho\n#SBATCH --time=5\n'), undefined, 'after the first command');
  assert.equal(await read('f.py', '#SBATCH --time=5\n'), undefined, 'no script');
  assert.equal(await readBatchScript(join(folder, 'missing.sbatch'), 'missing.sbatch'), undefined);
  mkdirSync(join(folder, 'folder.sbatch'));
  assert.equal(await readBatchScript(join(folder, 'folder.sbatch'), 'x'), undefined);
  if (process.platform === 'win32') return;
  execFileSync('mkfifo', [join(folder, 'pipe.sbatch')]);
  assert.equal(await readBatchScript(join(folder, 'pipe.sbatch'), 'x'), undefined);
});

test('only the first megabyte of a script is read', async (t) => {
  const path = join(temporaryFolder(t), 'a.sbatch');
  const text = `#!/bin/sh\n${'# a line\n'.repeat(200_000)}`;
  writeFileSync(path, text);
  assert.equal(await readBatchScript(path, 'a'), text.slice(0, 2 ** 20));
});

test('a script that sbatch would refuse is an error that says what to do', async (t) => {
  const folder = temporaryFolder(t);
  for (const [text, problem] of [
    ['', 'does not begin with #! and the path of a shell, so it cannot be run. Begin it with #!/bin/bash.'],
    ['echo\n', 'does not begin with #! and the path of a shell, so it cannot be run. Begin it with #!/bin/bash.'],
    ['#!/bin/sh\n\0', 'contains NUL characters, so it is not a script. Choose another file.'],
    ['#!/bin/sh\r\necho\r\n', 'has the line ends of Windows, which shells cannot read. Save it with LF line ends.'],
  ] as const) {
    writeFileSync(join(folder, 'a.sbatch'), text);
    await assert.rejects(readBatchScript(join(folder, 'a.sbatch'), 'jobs/a.sbatch'), {
      code: 'bad-input',
      message: `jobs/a.sbatch ${problem} Nothing was sent.`,
    });
  }
  writeFileSync(join(folder, 'a.sbatch'), '#!/bin/sh\necho\r\n');
  assert.equal(
    await readBatchScript(join(folder, 'a.sbatch'), 'a'),
    '#!/bin/sh\necho\r\n',
    'only the first line counts',
  );
});
