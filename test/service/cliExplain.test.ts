import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { jsonLines, Scratch } from './commandLine.ts';

test('explain says of a missing file whether the folder has it and it was left out, or has another path in the job', async () => {
  await using scratch = await Scratch.create();
  const { env } = await scratch.serve();
  const folder = await scratch.folder('project', {
    'read.sh':
      'cat data/train.csv\ncat data/gone.csv\ncat sent/here.csv\nls "$PWD/data"\necho "cat: $1: No such file or directory"\nexit 3\n',
    'data/train.csv': '1\n',
    'sent/here.csv': '2\n',
    '.farwharfignore': 'data/\n',
  });
  const local = join(folder, 'sent', 'here.csv');
  const done = await scratch.run(['submit', folder, '--script', `read.sh ${local}`, '--watch', '--json'], { env });
  const [{ job_id: id } = {}] = jsonLines(done.stdout);
  const explained = await scratch.run(['explain', String(id), '--json'], { env });
  const [why = {}] = jsonLines(explained.stdout);
  const leftOut = (path: string): string =>
    `${path} is in your folder, but it was left out when the job was submitted. Include it in the next submit, or find out why: farwharf submit --dry-run`;
  const causes = why['likely_causes'] as readonly string[];
  assert.ok(causes.includes(leftOut('data/train.csv')), explained.stdout);
  assert.ok(causes.some((cause) => cause.startsWith('The file data/gone.csv does not exist in the job.')));
  const elsewhere = `${local} is a path on your own machine. In the job, its path is sent/here.csv, relative to the folder.`;
  assert.deepEqual(
    causes.filter((cause) => cause.includes('here.csv')),
    [elsewhere],
  );
  const page = await scratch.run(['explain', String(id)], { env });
  assert.equal(page.exit, 0);
  assert.match(page.stdout, /^# Why read\.sh .* failed\n/);
});
