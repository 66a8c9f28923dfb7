import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { jsonLines, Scratch } from './commandLine.ts';

test('an administrator adds an account and a key while the service runs; who has the key submits until it is revoked', async () => {
  await using scratch = await Scratch.create();
  const { url } = await scratch.serve(await scratch.unisolated());
  const data = join(scratch.root, 'service-0');
  const admin = (...args: string[]) => scratch.run(['admin', ...args, '--data', data]);

  const added = await admin('account', 'add', 'ada', '--name', 'Ada Lovelace', '--credits', '100');
  assert.equal(added.stdout, 'Account ada was added, with 100 credits.\n');
  assert.ok(added.stderr.includes(`farwharf admin key add ada --data ${data}\n`), added.stderr);
  const made = await admin('key', 'add', 'ada', '--label', 'laptop', '--expires', '90d');
  assert.match(made.stdout, /^fw_[\w-]{43}\n$/);
  assert.match(made.stderr, /shown only once/);
  const key = made.stdout.trim();

  const env = { FARWHARF_REMOTE_HOST: url, FARWHARF_API_KEY: key };
  const folder = await scratch.folder('project', { 'hello.sh': 'echo hello' });
  const submitted = await scratch.run(['submit', folder, '--script', 'hello.sh', '--watch'], { env });
  assert.equal(submitted.stdout, 'hello\n', submitted.stderr);
  assert.match((await scratch.run(['me'], { env })).stdout, /credits, plan team/);

  const [list] = jsonLines((await admin('key', 'list', 'ada', '--json')).stdout);
  assert.ok(list);
  const [listed] = list['keys'] as { key_id: string; label: string; last_used_at: string | null }[];
  assert.equal(listed?.label, 'laptop');
  assert.notEqual(listed.last_used_at, null);
  const usage = await admin('usage');
  assert.match(usage.stdout, /^ACCOUNT +NAME +MACHINE +JOBS +MINUTES +CREDITS\nada +Ada Lovelace +local +1 +0\.\d/);
  const csv = (await admin('usage', '--account', 'ada', '--csv')).stdout.split('\r\n');
  assert.equal(csv[0], 'account_id,name,machine_class,jobs,machine_minutes,credits');
  assert.match(csv[1] ?? '', /^ada,Ada Lovelace,local,1,[\d.]+,[\d.]+$/);
  assert.equal((await admin('usage', '--from', '2026-02-30')).exit, 2);
  const byProject = (await admin('usage', '--by', 'project,account', '--csv')).stdout.split('\r\n');
  assert.equal(byProject[0], 'project,account_id,name,jobs,machine_minutes,credits');
  assert.match(byProject[1] ?? '', /^,ada,Ada Lovelace,1,/);
  const wrong = await admin('usage', '--by', 'project,project');
  assert.equal(wrong.exit, 2);
  assert.match(wrong.stderr, /Invalid value "project,project" for --by\. Enter account, group, project, class/);

  const edited = await admin('account', 'edit', 'ada', '--name', 'Ada King');
  assert.equal(edited.stdout, 'ada: Ada King, plan team\n');
  assert.match((await admin('audit', '--account', 'ada')).stdout, /accounts\.edit +ada/);
  assert.match(
    (await admin('account', 'edit', 'ada')).stderr,
    /Nothing to change\. Use --name, --plan, --group, or several of them\./,
  );

  const revoked = await admin('key', 'revoke', listed.key_id);
  assert.match(revoked.stdout, /is revoked and no longer works/);
  const refused = await scratch.run(['submit', folder, '--script', 'hello.sh', '--again'], { env });
  assert.equal(refused.exit, 3);
  assert.match(refused.stderr, /HTTP 401: This API key was revoked\. Ask the operator of the service for a new one/);
  assert.ok(!refused.stderr.includes(key));
});

test('a submit that the service puts off waits, says so, and arrives whole', async () => {
  await using scratch = await Scratch.create();
  const service = await scratch.serve(['--executor', 'process', ...(await scratch.unisolated())]);
  const data = join(scratch.root, 'service-0');
  const admin = (...args: string[]) => scratch.run(['admin', ...args, '--data', data]);
  await admin('account', 'add', 'ada', '--credits', '100');
  const key = (await admin('key', 'add', 'ada')).stdout.trim();
  await admin('account', 'limits', 'ada', '--uploads', '0');
  const env = { FARWHARF_REMOTE_HOST: service.url, FARWHARF_API_KEY: key };
  const folder = await scratch.folder('project', { 'hello.sh': 'wc -c < noise.bin' });
  await writeFile(join(folder, 'noise.bin'), randomBytes(20_000_000));
  let raised: Promise<unknown> | undefined;
  const done = await scratch.run(['submit', folder, '--script', 'hello.sh', '--watch'], {
    env,
    onOutput({ stderr }) {
      if (stderr.includes('asks you to wait')) raised ??= admin('account', 'limits', 'ada', '--uploads', 'default');
    },
  });
  await raised;
  assert.equal(done.exit, 0, done.stderr);
  assert.match(done.stderr, /asks you to wait 5\.0 s: The account may have 0 uploads open at once/);
  assert.match(done.stdout, /^\s*20000000\n$/);
});

test('without a service the store itself is administered; wrong use gives a sentence', async () => {
  await using scratch = await Scratch.create();
  const admin = (...args: string[]) => scratch.run(['admin', ...args]);
  const missing = await admin('account', 'list');
  assert.equal(missing.exit, 2);
  assert.match(
    missing.stderr,
    /serve has no accounts, because no service has run there\. Specify its data folder with --data/,
  );
  assert.equal((await admin('account', 'add', 'ada')).exit, 0);
  const twice = await admin('account', 'add', 'ada', '--json');
  assert.deepEqual(jsonLines(twice.stdout), [
    { error: { code: 'conflict', message: 'Account "ada" already exists.' } },
  ]);
  const given = await admin('credits', 'grant', 'ada', '12.5', '--note', 'March', '--reference', 'march');
  assert.equal(given.stdout, '12.5 credits were given to ada: it has 12.5.\n');
  const again = await admin('credits', 'grant', 'ada', '12.5', '--reference', 'march');
  assert.equal(again.stdout, 'No change: "march" was already granted. ada: it has 12.5.\n');
  const taken = await admin('credits', 'grant', 'ada', '-2.5');
  assert.equal(taken.stdout, '2.5 credits were taken from ada: it has 10.\n');
  const book = await admin('credits', 'list', 'ada');
  assert.match(
    book.stdout,
    /^WHEN \(UTC\) +WHAT +CREDITS +REFERENCE +NOTE\n.* grant +-2\.5 .*\n.* grant +12\.5 +march +March\n$/,
  );
  for (const [args, says] of [
    [['credits', 'grant', 'ada', 'lots'], /"lots" is not a number of credits/],
    [
      ['account', 'limits', 'ada', '--streams', 'many'],
      /Invalid value for --streams\. Enter a number, or the word default/,
    ],
    [['key', 'add', 'ada', '--expires', 'soon'], /Invalid value "soon" for --expires/],
    [['key', 'add', 'ada', '--expires', '2099-02-30'], /Invalid value "2099-02-30" for --expires/],
    [['key', 'add', 'bob'], /Account "bob" does not exist/],
    [['key', 'revoke', '0000'], /Key 0000 does not exist/],
  ] as const) {
    const refused = await admin(...args);
    assert.equal(refused.exit, 2, args.join(' '));
    assert.match(refused.stderr, says);
  }
});

test('the schema of the configuration is one JSON value, with --json on one line', async () => {
  await using scratch = await Scratch.create();
  const [people, programs] = await Promise.all(
    [[], ['--json']].map((flags) => scratch.run(['serve', '--config-schema', ...flags])),
  );
  assert.deepEqual(jsonLines(programs?.stdout ?? ''), [JSON.parse(people?.stdout ?? '')]);
});

test('a service under a supervisor writes no key into its log', async () => {
  await using scratch = await Scratch.create();
  let printed = '';
  const { exit } = await scratch.run(['serve', '--port', '0', '--data', join(scratch.root, 'data')], {
    onOutput({ stderr }, interrupt) {
      const isReady = stderr.includes('admin account add') && !printed.includes('admin account add');
      printed = stderr;
      if (isReady) interrupt('SIGTERM'); // once: a second one would end it at once
    },
  });
  assert.equal(exit, 0);
  assert.ok(printed.includes(`farwharf admin key add ACCOUNT --data ${join(scratch.root, 'data')}\n`), printed);
  assert.doesNotMatch(printed, /[\w-]{43}/);
});

test('a service that cannot tell how it is administered ends at once, and is not left listening', async () => {
  await using scratch = await Scratch.create();
  const data = await scratch.folder('data', { 'admin.json/in-the-way': '' });
  const { exit, stderr } = await scratch.run(['serve', '--port', '0', '--data', data]);
  assert.equal(exit, 1);
  assert.match(stderr, /admin\.json/);
  const far = await scratch.run(['serve', '--port', '65536', '--data', data]);
  assert.deepEqual([far.exit, /from 0 to 65535/.test(far.stderr)], [2, true]);
});
