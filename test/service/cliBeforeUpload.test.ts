import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { type Finished, jsonLines, Scratch, startFake } from './commandLine.ts';

const CONFIG = `
[[machine_classes]]
name = "small"
credits_per_minute = 0.5

[[machine_classes]]
name = "large-gpu"
credits_per_minute = 4
`;

interface Finding {
  readonly type: string;
  readonly severity?: string;
  readonly message: string;
}

function findingsOf({ stdout }: Finished): readonly Finding[] {
  return (jsonLines(stdout)[0] as { findings: readonly Finding[] }).findings;
}

/** A refusal before the upload: this exit status and these words, and nothing was packed. */
function assertRefusedEarly(scratch: Scratch, done: Finished, exit: number, words: readonly RegExp[]): void {
  assert.equal(done.exit, exit, done.stderr);
  for (const word of words) assert.match(done.stderr, word);
  assert.doesNotMatch(done.stderr, /packed|uploaded|HTTP \d/);
  assert.ok(!existsSync(join(scratch.home, 'archives')), 'an archive was made');
}

test('an unknown machine class is refused before packing, with those that exist, their prices and the nearest name', async () => {
  await using scratch = await Scratch.create();
  const config = join(await scratch.folder('config', { 'service.toml': CONFIG }), 'service.toml');
  const { env } = await scratch.serve(['--config', config]);
  const folder = await scratch.folder('project', { 'run.sh': 'exit 0\n' });
  const args = ['submit', folder, '--script', 'run.sh', '--machine-class', 'large-gpus'];
  const words = [
    /"large-gpus"/,
    /small \(0\.5 credits a minute\), large-gpu \(4 credits a minute\)/,
    /Did you mean "large-gpu"\?/,
    /--machine-class/,
  ];
  assertRefusedEarly(scratch, await scratch.run(args, { env }), 2, words);
  const dry = await scratch.run([...args, '--dry-run'], { env });
  assertRefusedEarly(scratch, dry, 2, words);
  assert.equal(dry.stdout, 'run.sh\n');
  const json = await scratch.run([...args, '--dry-run', '--json'], { env });
  assert.deepEqual(
    findingsOf(json).map(({ type, severity }) => [type, severity]),
    [['machine-class', 'error']],
  );
  assert.equal(jsonLines(json.stdout).length, 1);
});

test('a time limit that the service does not take is refused before packing, with the one that it takes', async () => {
  await using scratch = await Scratch.create();
  const { env } = await scratch.serve();
  const folder = await scratch.folder('project', { 'run.sh': 'exit 0\n' });
  for (const seconds of ['999999999', '99999999999']) {
    const args = ['submit', folder, '--script', 'run.sh', '--max-runtime', seconds];
    const words = [/at most 30 d \(2592000 seconds\)/, /--max-runtime/];
    assertRefusedEarly(scratch, await scratch.run(args, { env }), 2, words);
    assertRefusedEarly(scratch, await scratch.run([...args, '--dry-run'], { env }), 2, words);
  }
  for (const seconds of ['0', '-5', '1.5', 'soon']) {
    const done = await scratch.run(['submit', folder, '--script', 'run.sh', '--max-runtime', seconds], { env });
    assertRefusedEarly(scratch, done, 2, [/whole number of at least 1 for --max-runtime/]);
  }
});

test('credits that do not cover the highest price are reported before packing, with the missing amount, as exit status 4', async () => {
  await using scratch = await Scratch.create();
  const { env } = await scratch.serve(['--credits', '2']);
  const folder = await scratch.folder('project', { 'run.sh': 'exit 0\n' });
  const args = ['submit', folder, '--script', 'run.sh', '--machine-class', 'local'];
  const words = [/You need 4 more credits/, /up to 6 credits, and you have 2/, /--max-runtime/];
  assertRefusedEarly(scratch, await scratch.run(args, { env }), 4, words);
  assertRefusedEarly(scratch, await scratch.run([...args, '--dry-run'], { env }), 4, words);
  const json = await scratch.run([...args, '--json'], { env });
  assert.equal((jsonLines(json.stdout)[0] as { error: { code: string } }).error.code, 'no-credits');
});

test('without a service a dry run works, and says what it could not check', async () => {
  await using scratch = await Scratch.create();
  const env = { FARWHARF_REMOTE_HOST: 'http://127.0.0.1:9', FARWHARF_API_KEY: 'some-key-or-other' };
  const folder = await scratch.folder('project', { 'run.sh': 'exit 0\n' });
  const args = ['submit', folder, '--script', 'run.sh', '--machine-class', 'large', '--dry-run'];
  const done = await scratch.run(args, { env });
  assert.deepEqual([done.exit, done.stdout], [0, 'run.sh\n'], done.stderr);
  assert.match(done.stderr, /Limits and prices were not checked: .*127\.0\.0\.1:9/);
  const json = await scratch.run([...args, '--json'], { env });
  assert.deepEqual(
    findingsOf(json).map(({ type }) => type),
    ['unchecked'],
  );
  const noKey = await scratch.run(args, { env: { FARWHARF_REMOTE_HOST: 'https://gpu.example.org' } });
  assert.equal(noKey.exit, 0, noKey.stderr);
  assert.match(noKey.stderr, /not checked: .*FARWHARF_API_KEY/);
});

test('a service that states no limits decides itself, and its refusal is a sentence', async () => {
  await using scratch = await Scratch.create();
  const details: readonly [detail: unknown, sentence: RegExp][] = [
    ['meta.max_runtime: Too big: expected number to be <=86400', /refused the time limit: must be at most 86400/],
    [
      [{ loc: ['body', 'meta', 'max_runtime'], msg: 'Input should be less than or equal to 86400', type: 'less_than' }],
      /refused the time limit: Input should be less than or equal to 86400/,
    ],
    ['meta.machine_class: no such class', /refused the machine class: no such class/],
    ['Out of luck.', /refused the request: Out of luck\./],
  ];
  const folder = await scratch.folder('project', { 'run.sh': 'exit 0\n' });
  for (const [detail, sentence] of details) {
    let uploads = 0;
    await using fake = await startFake((request, response) => {
      if (request.method === 'GET') response.end('{"credits": 1, "rate_card": [{"credits_per_minute": 9}]}');
      else
        request.resume().once('end', () => {
          uploads += 1;
          response.writeHead(400).end(JSON.stringify({ detail }));
        });
    });
    const args = ['submit', folder, '--script', 'run.sh', '--max-runtime', '999999', '--machine-class', 'huge'];
    const done = await scratch.run(args, { env: fake.env });
    assert.deepEqual([done.exit, uploads], [2, 1], done.stderr);
    assert.match(done.stderr, sentence);
    assert.doesNotMatch(done.stderr, /HTTP 400|meta\.|Too big|loc/);
  }
});

test('an --include or --exclude that matches nothing is refused', async () => {
  await using scratch = await Scratch.create();
  const env = { FARWHARF_REMOTE_HOST: 'http://127.0.0.1:9', FARWHARF_API_KEY: 'some-key-or-other' };
  const folder = await scratch.folder('project', { 'run.sh': '', 'data/rows.csv': '1\n' });
  const args = ['submit', folder, '--script', 'run.sh'];
  const words = [/data\/row\.csv does not exist in .*project/, /Did you mean data\/rows\.csv\?/];
  for (const flag of ['--include', '--exclude']) {
    const near = [...args, flag, 'data/row.csv'];
    assertRefusedEarly(scratch, await scratch.run(near, { env }), 2, words);
    assertRefusedEarly(scratch, await scratch.run([...near, '--dry-run'], { env }), 2, words);
    const pattern = await scratch.run([...args, flag, 'data/*.csv', flag, '*.npy', '--dry-run'], { env });
    assertRefusedEarly(scratch, pattern, 2, [/The pattern \*\.npy matches nothing in .*project/]);
    assertRefusedEarly(scratch, await scratch.run([...args, flag, '../elsewhere'], { env }), 2, [/elsewhere/]);
  }
  const profiles = {
    profiles: {
      a: { script: 'run.sh', exclude: ['*.npy'] },
      b: { script: 'run.sh ${matrix:x}', matrix: { x: [1, 2] }, include: ['*.npy'] },
    },
  };
  await writeFile(join(folder, 'farwharf.json'), JSON.stringify(profiles));
  for (const name of ['a', 'b']) {
    const done = await scratch.run(['submit', folder, '--profile', name, '--dry-run'], { env });
    assertRefusedEarly(scratch, done, 2, [/The pattern \*\.npy matches nothing/]);
  }
});

test('a script that stays at home is refused, with the rule that leaves it out and the flag that sends it', async () => {
  await using scratch = await Scratch.create();
  const env = { FARWHARF_REMOTE_HOST: 'http://127.0.0.1:9', FARWHARF_API_KEY: 'some-key-or-other' };
  const files = { 'train.py': '', 'other.py': '', '.gitignore': 'train.py\n' };
  const folder = await scratch.folder('project', files);
  const args = ['submit', folder, '--script', 'train.py'];
  for (const more of [[], ['--dry-run']]) {
    const words = [/train\.py/, /\.gitignore:1/, /--include train\.py/];
    assertRefusedEarly(scratch, await scratch.run([...args, ...more], { env }), 2, words);
  }
  const byFlag = await scratch.run([...args, '--include', 'train.py', '--exclude', 'train.py'], { env });
  assertRefusedEarly(scratch, byFlag, 2, [/--exclude/]);
});

test('an archive above the limit of the account is not uploaded', async () => {
  await using scratch = await Scratch.create();
  const settings = await scratch.folder('config', { 'service.toml': '[limits]\nupload_gb = 0.0001\n' });
  const { env } = await scratch.serve(['--config', join(settings, 'service.toml')]);
  const folder = await scratch.folder('project', { 'run.sh': '' });
  await writeFile(join(folder, 'noise.zip'), randomBytes(200_000));
  const args = ['submit', folder, '--script', 'run.sh'];
  const done = await scratch.run(args, { env });
  assert.equal(done.exit, 1, done.stderr);
  assert.match(done.stderr, /archive has 201 KB.* at most 100 KB.*\.farwharfignore/);
  assert.doesNotMatch(done.stderr, /uploaded|HTTP/);
  const dry = await scratch.run([...args, '--dry-run', '--json'], { env });
  assert.equal(dry.exit, 0, dry.stderr);
  assert.deepEqual(
    findingsOf(dry).map(({ type, severity }) => [type, severity]),
    [['upload-size', 'warning']],
  );
});
