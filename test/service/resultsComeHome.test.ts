import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, lstatSync, readdirSync, readFileSync, statSync, truncateSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { Scratch } from './commandLine.ts';

const skipsWindows = process.platform === 'win32' && 'SKIPPED: the jobs are shell scripts';

test('a large mask of zeros comes home with what is beside it, keeps its hole, and does not stand in the way of one file', {
  skip: skipsWindows,
}, async () => {
  await using scratch = await Scratch.create();
  const { env } = await scratch.serve();
  const script = 'truncate -s 300M mask.npy\nhead -c 64000000 /dev/zero > written.npy\necho "{}" > metrics.json\n';
  const folder = await scratch.folder('project', { 'run.sh': script });
  const id = (await scratch.run(['submit', folder, '--script', 'run.sh'], { env })).stdout.trim();
  await scratch.run(['watch', id], { env });
  const one = await scratch.run(['download', id, '--only', 'metrics.json', '--into', join(scratch.root, 'one')], {
    env,
  });
  assert.equal(one.exit, 0, one.stderr);
  assert.deepEqual(readdirSync(join(scratch.root, 'one')), ['metrics.json']);
  const all = await scratch.run(['download', id], { env });
  assert.equal(all.exit, 0, all.stderr);
  for (const [name, size] of [
    ['mask.npy', 300 * 2 ** 20],
    ['written.npy', 64e6],
  ] as const) {
    const stats = statSync(join(folder, name));
    assert.equal(stats.size, size);
    assert.ok(stats.blocks * 512 < 1e6, `${name} takes ${stats.blocks} blocks`);
  }
  // The second download is put together from contents on this machine.
  const again = join(scratch.root, 'again');
  assert.equal((await scratch.run(['download', id, '--into', again], { env })).exit, 0);
  assert.ok(statSync(join(again, 'mask.npy')).blocks * 512 < 1e6);
});

test('a file with holes is sent as such, whatever its size', { skip: skipsWindows }, async () => {
  await using scratch = await Scratch.create();
  const { env } = await scratch.serve();
  const folder = await scratch.folder('project', {
    'run.sh': 'stat -c "%s %b" zeros.bin > seen.txt\n',
    'zeros.bin': 'begin',
  });
  truncateSync(join(folder, 'zeros.bin'), 400 * 2 ** 20);
  const sent = await scratch.run(
    ['submit', folder, '--script', 'run.sh', '--include', 'zeros.bin', '--watch', '--download'],
    { env },
  );
  assert.equal(sent.exit, 0, sent.stdout + sent.stderr);
  const [size, blocks] = readFileSync(join(folder, 'seen.txt'), 'utf8').split(' ').map(Number);
  assert.equal(size, 400 * 2 ** 20);
  assert.ok((blocks ?? Infinity) * 512 < 2e6, `it takes ${blocks} blocks in the job`);
});

test('results with any name come home, and a file that is sent has its own', { skip: skipsWindows }, async () => {
  await using scratch = await Scratch.create();
  const { env } = await scratch.serve();
  const names = [
    'T:300K.csv',
    '2024-01-01 12:00:00.csv',
    'aux.txt',
    'what?.txt',
    'trail.',
    'back\\slash',
    'Twin',
    'twin',
  ];
  const script = `const { readFileSync, writeFileSync } = require('node:fs');
    for (const name of ${JSON.stringify([...names, 'a\u0001b', 'ok.txt'])}) writeFileSync(name, readFileSync('a:b.txt'));`;
  const folder = await scratch.folder('project', { 'run.cjs': script, 'a:b.txt': 'sent' });
  const sent = await scratch.run(['submit', folder, '--script', 'run.cjs', '--watch', '--download'], { env });
  assert.equal(sent.exit, 0, sent.stdout + sent.stderr);
  const isFolding = existsSync(join(folder, 'RUN.CJS'));
  assert.deepEqual(
    readdirSync(folder).sort(),
    [
      'a:b.txt',
      'a_b',
      'ok.txt',
      'run.cjs',
      ...names.map((name) => (isFolding && name === 'twin' ? 'twin 2' : name)),
    ].sort(),
  );
  assert.match(sent.stderr, /a_b \(in the job: ab\)/);
});

test('results below a name that a local file has are a conflict like others', { skip: skipsWindows }, async () => {
  await using scratch = await Scratch.create();
  const { env } = await scratch.serve();
  const folder = await scratch.folder('project', {
    'run.sh': 'mkdir -p out; echo x > out/x; echo m > more.txt; echo d > data\n',
  });
  const id = (await scratch.run(['submit', folder, '--script', 'run.sh'], { env })).stdout.trim();
  await scratch.run(['watch', id], { env });
  for (const [choice, expected] of [
    ['skip', ['data/mine', 'more.txt', 'out']],
    ['keep-both', ['data (job N)', 'data/mine', 'more.txt', 'out', 'out (job N)/x']],
    ['overwrite', ['data', 'data (before job N)/mine', 'more.txt', 'out (before job N)', 'out/x']],
  ] as const) {
    const into = await scratch.folder(choice, { out: 'mine', 'data/mine': 'mine' });
    const done = await scratch.run(['download', id, '--into', into, '--on-conflict', choice], { env });
    assert.equal(done.exit, 0, done.stderr);
    const found = readdirSync(into, { recursive: true, encoding: 'utf8' })
      .filter((path) => lstatSync(join(into, path)).isFile())
      .map((path) => path.replace(/job \w+/, 'job N'));
    assert.deepEqual(found.sort(), [...expected]);
    if (choice === 'overwrite') assert.match(done.stderr, /out \(yours, was in the way\) is now out \(before job/);
  }
});

test('modification times travel both ways, so that make does what it does here', { skip: skipsWindows }, async () => {
  await using scratch = await Scratch.create();
  const { env } = await scratch.serve();
  const folder = await scratch.folder('project', {
    'run.sh':
      'test in.c -nt out.o && echo newer > said.txt\ntest same.o -nt in.c && echo older >> said.txt\ntouch -d "2020-02-02 02:02:02.123456789Z" dated.txt\n',
    'in.c': 'c',
    'out.o': 'o',
    'same.o': 'o',
    'ahead.c': 'c',
  });
  const time = 1.6e9;
  for (const [name, at] of [
    ['out.o', time],
    ['in.c', time + 0.000_5],
    ['same.o', time + 0.001],
    ['ahead.c', Date.now() / 1000 + 3_600],
  ] as const)
    utimesSync(join(folder, name), at, at);
  const run = async () => {
    const sent = await scratch.run(['submit', folder, '--script', 'run.sh', '--watch', '--download'], { env });
    assert.equal(sent.exit, 0, sent.stdout + sent.stderr);
    assert.equal(readFileSync(join(folder, 'said.txt'), 'utf8'), 'newer\nolder\n');
    const { mtimeNs } = statSync(join(folder, 'dated.txt'), { bigint: true });
    assert.ok(Math.abs(Number(mtimeNs - 1_580_608_922_123_456_789n)) < 1_000, String(mtimeNs));
  };
  await run();
  // The second submission sends what changed only, which is a time.
  utimesSync(join(folder, 'out.o'), time - 1, time - 1);
  execFileSync('rm', [join(folder, 'said.txt'), join(folder, 'dated.txt')]);
  await run();
});
