import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { jsonLines, Scratch, startFake } from './commandLine.ts';

test('without arguments the first steps go to stderr, short, with 2', async () => {
  await using scratch = await Scratch.create();
  const bare = await scratch.run([]);
  assert.deepEqual([bare.exit, bare.stdout], [2, '']);
  assert.match(bare.stderr, /^Usage: farwharf <command>/);
  assert.match(bare.stderr, /farwharf submit --script train\.py --watch/);
  assert.match(bare.stderr, /farwharf help/);
  assert.ok(bare.stderr.trimEnd().split('\n').length <= 20, bare.stderr);
});

test('before it checks the version of Node.js, the program imports nothing that an older one lacks', () => {
  const seen = new Set<string>();
  const open = [join(import.meta.dirname, '../../dist/cli.mjs')];
  for (let file = open.pop(); file !== undefined; file = open.pop()) {
    seen.add(file);
    const specifiers = [...readFileSync(file, 'utf8').matchAll(/\bimport(?:\s*\{[^}]*\}\s*from)?\s*"([^"]+)"/g)];
    for (const [, specifier = ''] of specifiers) {
      assert.match(specifier, /^\.\.?\//, `${file} imports ${specifier}`);
      const imported = join(dirname(file), specifier);
      if (!seen.has(imported)) open.push(imported);
    }
  }
  assert.ok(seen.size < 4, [...seen].join());
});

test('help explains a command at any depth, as its --help does, on stdout with 0', async () => {
  await using scratch = await Scratch.create();
  for (const path of [[], ['submit'], ['admin'], ['admin', 'key', 'add'], ['flow', 'run'], ['help']]) {
    const help = await scratch.run(['help', ...path]);
    assert.deepEqual([help.exit, help.stderr], [0, ''], path.join(' '));
    assert.match(help.stdout, new RegExp(`^Usage: ${['farwharf', ...path].join(' ')} `));
    assert.equal(help.stdout, (await scratch.run([...path, '--help'])).stdout);
  }
  const nested = await scratch.run(['admin', 'help', 'key', 'add']);
  assert.match(nested.stdout, /^Usage: farwharf admin key add /);
  const unknown = await scratch.run(['help', 'admin', 'kye']);
  assert.equal(unknown.exit, 2);
  assert.match(unknown.stderr, /unknown command 'admin kye'.*Did you mean admin key\?/);
});

test('a misspelt command or flag comes with the one that was meant, and where to read on', async () => {
  await using scratch = await Scratch.create();
  const cases: readonly (readonly [readonly string[], RegExp])[] = [
    [['sumbit'], /^farwharf: unknown command 'sumbit'\. Did you mean submit\? Run: farwharf help$/m],
    [['admin', 'kye'], /unknown command 'kye'\. Did you mean key\? Run: farwharf help admin$/m],
    [['submit', '--scrip', 'x'], /unknown option '--scrip'\. Did you mean --script\? Run: farwharf help submit$/m],
    [['watch'], /missing required argument 'id'\. Run: farwharf help watch$/m],
    [
      ['flow', 'graph', 'x.ts', '--format', 'png'],
      /Allowed choices are json, mermaid, svg\. Run: farwharf help flow graph$/m,
    ],
  ];
  for (const [args, sentence] of cases) {
    const done = await scratch.run(args);
    assert.equal(done.exit, 2);
    assert.match(done.stderr, sentence);
    assert.equal(done.stderr.trimEnd().split('\n').length, 1, done.stderr);
  }
});

test('a number that makes no sense is refused with the numbers that do', async () => {
  await using scratch = await Scratch.create();
  for (const limit of ['0', '-3', '1.5', 'all', '']) {
    const done = await scratch.run(['jobs', '--limit', limit, '--json']);
    assert.equal(done.exit, 2, limit);
    assert.match(done.stderr, /Enter a whole number of at least 1 for --limit\./);
    assert.equal((jsonLines(done.stdout)[0] as { error: { code: string } }).error.code, 'bad-input');
  }
  const port = await scratch.run(['serve', '--port', '70000']);
  assert.equal(port.exit, 2);
  assert.match(port.stderr, /whole number from 0 to 65535 for --port/);
});

test('a folder that is not there is said to be missing, and not that nothing was sent', async () => {
  await using scratch = await Scratch.create();
  for (const args of [
    ['search', 'x', '--folder', '/nonexist'],
    ['index', '/nonexist'],
  ]) {
    const done = await scratch.run(args);
    assert.equal(done.exit, 2);
    assert.equal(done.stderr, 'farwharf: Folder /nonexist does not exist. Check the path.\n');
  }
});

test('a list of jobs that cannot be used is explained without words of an editor', async () => {
  await using scratch = await Scratch.create();
  await mkdir(join(scratch.home, 'jobs.sqlite'), { recursive: true });
  const done = await scratch.run(['jobs']);
  assert.match(done.stderr, /list of jobs in .*jobs\.sqlite cannot be used.*not recorded\. Check the permissions/);
  assert.doesNotMatch(done.stderr, /window|button/);
});

test('the last line names the results only of a job that left some, or may have', async () => {
  await using scratch = await Scratch.create();
  const { env } = await scratch.serve();
  const folder = await scratch.folder('project', { 'none.sh': 'echo hi\n', 'some.sh': 'echo hi > made.txt\n' });
  const lastLine = (text: string) => text.trimEnd().split('\n').at(-1) ?? '';
  const none = await scratch.run(['submit', folder, '--script', 'none.sh', '--watch'], { env });
  assert.match(lastLine(none.stderr), /^succeeded .* · no results$/);
  const some = await scratch.run(['submit', folder, '--script', 'some.sh', '--watch'], { env });
  assert.match(lastLine(some.stderr), /^succeeded .* · 1 new file: farwharf download \w+$/);
  const id = lastLine(some.stderr).split(' ').at(-1) ?? '';
  assert.match(lastLine((await scratch.run(['watch', id], { env })).stderr), /farwharf download/);

  await using other = await startFake((request, response) => {
    if (request.url?.endsWith('/events')) response.end('event: end\ndata: {"state": "succeeded"}\n\n');
    else response.end('{"job_id": "job-1", "state": "succeeded", "exit_code": 0}');
  });
  const unknown = await scratch.run(['watch', 'job-1'], { env: other.env });
  assert.match(lastLine(unknown.stderr), /results: farwharf download job-1$/);
});
