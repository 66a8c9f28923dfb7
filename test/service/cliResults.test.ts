import assert from 'node:assert/strict';
import { readFile, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { jsonLines, Scratch, startFake } from './commandLine.ts';

test('results beside files of the same name: both stay, unless yours is as submitted, or the choice is made by a flag', async () => {
  await using scratch = await Scratch.create();
  const { env } = await scratch.serve();
  const folder = await scratch.folder('project', {
    'run.sh': 'echo theirs > result.txt; for f in log.txt edited.txt Makefile; do echo 2 >> $f; done\n',
    'log.txt': '1\n',
    'edited.txt': '1\n',
    Makefile: 'all:\n',
  });
  const id = (await scratch.run(['submit', folder, '--script', 'run.sh'], { env })).stdout.trim();
  await scratch.run(['watch', id], { env });
  const into = await scratch.folder('into', { 'result.txt': 'mine\n' });
  const local = () => readFile(join(into, 'result.txt'), 'utf8');
  const only = ['--into', into, '--only', 'result.txt'];
  const download = (choice: string) => scratch.run(['download', id, ...only, '--on-conflict', choice], { env });

  assert.match((await download('skip')).stderr, /result\.txt \(your file was kept\)/);
  assert.deepEqual([await local(), await readdir(into)], ['mine\n', ['result.txt']]);
  assert.equal((await download('keep-both')).exit, 0);
  assert.equal(await local(), 'mine\n');
  const other = (await readdir(into)).find((name) => name !== 'result.txt') ?? '';
  assert.match(other, /^result \(job .+\)\.txt$/);
  assert.equal(await readFile(join(into, other), 'utf8'), 'theirs\n');
  assert.equal((await download('overwrite')).exit, 0);
  assert.equal(await local(), 'theirs\n');

  // The folder has what was submitted, but for a file that was edited since.
  await writeFile(join(folder, 'edited.txt'), 'mine\n');
  const home = await scratch.run(['download', id], { env });
  assert.match(home.stderr, /\+ log\.txt \(in place of yours, which was as submitted\)\n/);
  const files = async (...names: string[]) => Promise.all(names.map((name) => readFile(join(folder, name), 'utf8')));
  assert.deepEqual(await files('log.txt', 'edited.txt'), ['1\n2\n', 'mine\n']);
  assert.equal((await readdir(folder)).filter((name) => /^edited \(job .+\)\.txt$/.test(name)).length, 1);
  // What tools read stays, even if only the job changed it.
  assert.deepEqual(await files('Makefile'), ['all:\n']);
  const [, undo = ''] = /^Bring back what was submitted: {2}farwharf (.+)$/m.exec(home.stderr) ?? [];
  assert.equal((await scratch.run(undo.split(' '), { env })).exit, 0);
  assert.deepEqual(await files('log.txt'), ['1\n']);
});

test('results are listed and printed without saving them, and one of them is saved', async () => {
  await using scratch = await Scratch.create();
  const { env } = await scratch.serve();
  const script = 'mkdir out; echo good > out/loss.txt; head -c 9 /dev/zero > out/model.bin\n';
  const folder = await scratch.folder('project', { 'run.sh': script });
  const id = (await scratch.run(['submit', folder, '--script', 'run.sh'], { env })).stdout.trim();
  await scratch.run(['watch', id], { env });
  const run = (...args: string[]) => scratch.run([...args], { env });

  const listed = await run('results', id);
  assert.deepEqual([listed.exit, listed.stdout.split(/\s+/)], [0, '|5|B|out/loss.txt|9|B|out/model.bin|'.split('|')]);
  assert.match(listed.stderr, /2 results, 14 B\./);
  assert.deepEqual(jsonLines((await run('results', id, 'out/', '--json')).stdout), [
    {
      job_id: id,
      files: [
        { path: 'out/loss.txt', size: 5 },
        { path: 'out/model.bin', size: 9 },
      ],
    },
  ]);
  assert.equal((await run('results', id, 'out/loss.txt')).stdout, 'good\n');
  const binary = await run('results', id, 'out/model.bin');
  assert.deepEqual([binary.exit, binary.stdout], [2, '']);
  assert.match(
    binary.stderr,
    /out\/model\.bin is not text\. Save it with: farwharf download --only out\/model\.bin \w+/,
  );
  assert.match((await run('results', id, 'none')).stderr, /has no result none/);
  assert.deepEqual(await readdir(folder), ['run.sh']);

  const one = await run('download', id, '--only', 'out/loss.txt');
  assert.equal(one.exit, 0, one.stderr);
  assert.deepEqual(await readdir(join(folder, 'out')), ['loss.txt']);
  assert.match((await run('download', id, '--only', 'none')).stderr, /has no result none/);
});

test('--download holds back results that change tools or the next submit, and reports it', async () => {
  await using scratch = await Scratch.create();
  const { env } = await scratch.serve();
  const script =
    "echo '!private/**' > .farwharfignore; mkdir .github; echo x > .github/x.yml; echo x > AGENTS.md; echo x > out.txt\n";
  const files = { 'run.sh': script, '.gitignore': 'private/\n', 'private/key.txt': 'mine' };
  const folder = await scratch.folder('project', files);
  const done = await scratch.run(['submit', folder, '--script', 'run.sh', '--download'], { env });
  assert.equal(done.exit, 0, done.stderr);
  assert.match(done.stderr, /\? \.farwharfignore \(set aside: changes what the next submit sends\)/);
  assert.match(done.stderr, /\? \.github\/x\.yml \(set aside: hidden\)/);
  assert.match(done.stderr, /\? AGENTS\.md \(set aside: tools read this file name\)/);
  assert.match(done.stderr, /They are in \.farwharf-results\/.+, which is never sent/);
  assert.deepEqual((await readdir(folder)).sort(), ['.farwharf-results', '.gitignore', 'out.txt', 'private', 'run.sh']);
  const next = await scratch.run(['submit', folder, '--script', 'run.sh', '--dry-run', '--json'], { env });
  const sent = (jsonLines(next.stdout)[0] as { files: { path: string }[] }).files;
  assert.deepEqual(
    sent.map(({ path }) => path),
    ['.gitignore', 'out.txt', 'run.sh'],
  );
});

test('a hostile archive is refused with 1, and the folder stays as it was', async () => {
  await using scratch = await Scratch.create();
  await using fake = await startFake((request, response) => {
    if (request.url?.endsWith('/artifacts')) response.end(gzipSync(tarOf('../escaped.txt', 'gotcha')));
    else response.end('{"job_id": "job-1", "state": "succeeded", "exit_code": 0}');
  });
  const { env } = fake;
  const into = await scratch.folder('into', { 'mine.txt': 'mine\n' });
  const done = await scratch.run(['download', 'job-1', '--into', into, '--json'], { env });
  assert.equal(done.exit, 1, done.stderr);
  assert.equal((jsonLines(done.stdout)[0] as { error: { code: string } }).error.code, 'refused');
  assert.deepEqual(await readdir(into), ['mine.txt']);
  assert.ok(!(await readdir(scratch.root)).includes('escaped.txt'));
});

/** A tar archive with one file (POSIX ustar). */
function tarOf(name: string, content: string): Buffer {
  const header = Buffer.alloc(512);
  header.write(name, 0);
  header.write('0000644\0', 100);
  header.write('0000000\0', 108);
  header.write('0000000\0', 116);
  header.write(`${content.length.toString(8).padStart(11, '0')}\0`, 124);
  header.write('00000000000\0', 136);
  header.write('        0', 148);
  header.write('ustar\u000000', 257);
  const sum = header.reduce((total, byte) => total + byte, 0);
  header.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148);
  const body = Buffer.alloc(512);
  body.write(content);
  return Buffer.concat([header, body, Buffer.alloc(1024)]);
}
