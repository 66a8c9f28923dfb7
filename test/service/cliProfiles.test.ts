import assert from 'node:assert/strict';
import { mkdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { jsonLines, Scratch } from './commandLine.ts';

const SCRIPT = `
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
console.log(JSON.stringify([process.argv.slice(2), process.env.SEED, process.env.TOKEN, readFileSync('data.bin', 'utf8')]));
writeFileSync('model.txt', 'trained\\n');
`;
const PROFILES = {
  profiles: {
    train: {
      script: 'train.mjs',
      arguments: ['--data', '${workspaceFolder}/my data', '--token=${env:TOKEN}'],
      environment: { SEED: '1', TOKEN: '${env:TOKEN}' },
      maxRuntime: 120,
      include: ['data.bin'],
      exclude: ['notes.txt'],
      results: 'results/train',
    },
    eval: { script: 'train.mjs', maxRuntime: 60, exclude: ['notes.txt'] },
    elsewhere: { script: 'train.mjs', service: 'gpu.example.org' },
  },
};
const PROJECT = {
  'train.mjs': SCRIPT,
  'data.bin': 'data',
  'notes.txt': 'private',
  '.gitignore': '*.bin\n',
  'farwharf.json': JSON.stringify(PROFILES),
};

test('a profile has the script, the limits, the variables, the files and the folder for the results', async () => {
  await using scratch = await Scratch.create();
  const service = await scratch.serve();
  const folder = await scratch.folder('project', PROJECT);
  const env = { ...service.env, TOKEN: 'a b' };
  const allowed = ['--env', 'TOKEN', '--include', 'data.bin'];
  const args = ['submit', folder, '--profile', 'train', ...allowed, '--watch', '--download'];
  const done = await scratch.run(args, { env });
  assert.equal(done.exit, 0, done.stderr);
  assert.deepEqual(JSON.parse(done.stdout), [['--data', './my data', '--token=a b'], '1', 'a b', 'data']);
  assert.match(
    done.stderr,
    /note: Profile train reads TOKEN from your environment and sends it to 127\.0\.0\.1.* sends data\.bin/,
  );
  assert.equal(await readFile(join(folder, 'results', 'train', 'model.txt'), 'utf8'), 'trained\n');
  const [list = {}] = jsonLines((await scratch.run(['jobs', '--json'], { env })).stdout);
  const [sent] = list['jobs'] as Record<string, unknown>[];
  assert.equal(sent?.['max_runtime'], 120);

  const dry = await scratch.run(['submit', folder, '--profile', 'train', '--dry-run', '--json'], { env });
  const [answer = {}] = jsonLines(dry.stdout);
  const files = (answer['files'] as { path: string }[]).map(({ path }) => path);
  assert.ok(files.includes('data.bin') && !files.includes('notes.txt'), files.join());
});

test('flags win over the profile', async () => {
  await using scratch = await Scratch.create();
  const { env } = await scratch.serve();
  const folder = await scratch.folder('project', {
    ...PROJECT,
    'other.mjs': 'console.log(process.argv.slice(2).join())',
  });
  const args = ['submit', folder, '--profile', 'eval', '--script', 'other.mjs 1 2', '--max-runtime', '90', '--watch'];
  const done = await scratch.run([...args, '--json'], { env });
  assert.equal(done.exit, 0, done.stderr);
  const lines = jsonLines(done.stdout);
  assert.ok(lines.some(({ data }) => (data as { text?: string } | undefined)?.text === '1,2\n'));
  assert.equal(lines[0]?.['credit_hold'], 0.15);
  assert.equal(lines[0]?.['files'], 4);
});

test('a profile reads no variable and chooses no service without being allowed to', async () => {
  await using scratch = await Scratch.create();
  const service = await scratch.serve();
  const folder = await scratch.folder('project', PROJECT);
  const env = { ...service.env, TOKEN: 'secret' };
  const refused = await scratch.run(['submit', folder, '--profile', 'train'], { env });
  assert.notEqual(refused.exit, 0);
  assert.match(refused.stderr, /reads TOKEN .* nothing was sent\. Allow it with --env TOKEN --include data\.bin$/m);
  assert.ok(!refused.stderr.includes('secret'));

  const unknown = await scratch.run(['submit', folder, '--profile', 'elsewhere'], { env });
  assert.match(unknown.stderr, /service gpu\.example\.org, which you have not used yet\./);

  // A service that was used before is known by its name, but choosing it takes another consent.
  const name = new URL(service.url).host;
  const profiles = { profiles: { there: { script: 'train.mjs', service: name } } };
  await writeFile(join(folder, 'farwharf.json'), JSON.stringify(profiles));
  assert.equal((await scratch.run(['submit', folder, '--script', 'train.mjs'], { env })).exit, 0);
  const keys = join(scratch.home, 'keys');
  await mkdir(keys, { recursive: true });
  await writeFile(join(keys, name.replace(':', '_')), service.key, { mode: 0o600 });
  const switched = await scratch.run(['submit', folder, '--profile', 'there']);
  assert.match(
    switched.stderr,
    /sends this folder to 127\.0\.0\.1:\d+, .*Allow it with --remote http:\/\/127\.0\.0\.1:\d+$/m,
  );
  const allowed = await scratch.run(['submit', folder, '--profile', 'there', '--remote', service.url]);
  assert.equal(allowed.exit, 0, allowed.stderr);
});

test('a profile sends nothing that rules leave out without being allowed to', async () => {
  await using scratch = await Scratch.create();
  const { env } = await scratch.serve();
  const profiles = { profiles: { all: { script: 'train.mjs', include: ['.env', 'keys'] } } };
  const files = { '.env': 'TOKEN=1', 'keys/id_rsa': 'x', 'farwharf.json': JSON.stringify(profiles) };
  const folder = await scratch.folder('project', { ...PROJECT, ...files });
  const refused = await scratch.run(['submit', folder, '--profile', 'all'], { env });
  assert.match(
    refused.stderr,
    /sends \.env, keys to .* even if a rule leaves them out\. .* nothing was sent\. .*--include \.env --include keys$/m,
  );
  const args = ['submit', folder, '--profile', 'all', '--include', '.env', '--include', 'keys/'];
  assert.equal((await scratch.run(args, { env })).exit, 0);
});

test('a profile sends what a link leads to only after the user has seen where that is', async () => {
  await using scratch = await Scratch.create();
  const { env } = await scratch.serve();
  const profiles = { profiles: { all: { script: 'train.mjs', include: ['da*'] } } };
  const folder = await scratch.folder('project', { ...PROJECT, 'farwharf.json': JSON.stringify(profiles) });
  const [data, other] = [
    await scratch.folder('scratch', { '1.csv': '1' }),
    await scratch.folder('other', { '1.csv': '2' }),
  ];
  await symlink(data, join(folder, 'data'));
  const submit = (...more: string[]) => scratch.run(['submit', folder, '--profile', 'all', ...more], { env });
  const refused = await submit();
  assert.match(
    refused.stderr,
    new RegExp(`sends da\\*, data -> ${data} to .* nothing was sent\\. .*--include 'da\\*' --include data$`, 'm'),
  );
  const dry = await submit('--dry-run', '--json');
  const { files, findings } = jsonLines(dry.stdout)[0] as {
    files: readonly { path: string }[];
    findings: readonly { type: string; path: string; target?: string }[];
  };
  assert.ok(files.some(({ path }) => path === 'data/1.csv'));
  assert.deepEqual(
    findings.flatMap(({ type, path, target }) => (type === 'link' ? [[path, target]] : [])),
    [['data', data]],
  );
  const sent = await submit('--include', 'da*', '--include', 'data');
  assert.equal(sent.exit, 0, sent.stderr);
  assert.match(
    sent.stderr,
    new RegExp(`note: data is a link out of the folder\\. What it leads to is sent: 1 file, from ${data}`),
  );
  await rm(join(folder, 'data'));
  await symlink(other, join(folder, 'data'));
  assert.match((await submit('--include', 'da*')).stderr, new RegExp(`data -> ${other} .*You have not allowed this`));
});

test('an unknown profile and a file with errors are reported', async () => {
  await using scratch = await Scratch.create();
  const folder = await scratch.folder('project', PROJECT);
  const unknown = await scratch.run(['submit', folder, '--profile', 'trian', '--dry-run']);
  assert.match(unknown.stderr, /Profile trian does not exist, .*Profiles in farwharf\.json: train, eval, elsewhere\./);
  await writeFile(
    join(folder, 'farwharf.json'),
    '{\n  "profiles": { "train": { "script": "a.py", "maxRuntime": "1h" } }\n}',
  );
  const broken = await scratch.run(['submit', folder, '--profile', 'train']);
  assert.equal(broken.exit, 2, broken.stderr);
  assert.match(broken.stderr, /farwharf\.json:2:60: /);
});
