import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { chmod, readdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { openAdmin } from '../../src/service/admin/adminClient.ts';
import { jsonLines, Scratch, startFake } from './commandLine.ts';
import { built } from './support/built.ts';

test('a job that fails gives 1 and its reason', async () => {
  await using scratch = await Scratch.create();
  const { env } = await scratch.serve();
  const folder = await scratch.folder('project', { 'fail.sh': 'echo before\nexit 7\n' });
  const done = await scratch.run(['submit', folder, '--script', 'fail.sh', '--watch', '--download'], { env });
  assert.deepEqual([done.exit, done.stdout], [1, 'before\n'], done.stderr);
  assert.match(done.stderr, /failed \(exit 7: before\)/);
});

test('bad use gives 2 and says what to do, before anything is sent', async () => {
  await using scratch = await Scratch.create();
  const env = { FARWHARF_REMOTE_HOST: 'http://127.0.0.1:9' };
  const folder = await scratch.folder('project', { 'train.py': '', 'bad.json': '[]', 'agent.ts': '' });
  const empty = await scratch.folder('empty', {});
  const ignored = await scratch.folder('ignored', { '.farwharfignore': '*', 'train.py': '' });
  const cases: [readonly string[], RegExp][] = [
    [['submit', folder, '--script', 'trian.py'], /trian\.py does not exist.*train\.py/],
    [['submit', folder], /--script FILE/],
    [['submit', empty, '--script', 'train.py'], /Nothing to send .*no files.*Add the script/],
    [['submit', ignored, '--script', 'train.py'], /Nothing to send .*every file.*left out.*--include/s],
    [['submit', join(folder, 'nowhere'), '--script', 'train.py'], /nowhere does not exist\. Check the path/],
    [['submit', join(folder, 'train.py'), '--script', 'train.py'], /is a file/],
    [['submit', folder, '--script', 'train.py', '--max-runtime', 'long'], /whole number/],
    [['submit', folder, '--script', 'train.py', '--venv', join(folder, 'bad.json')], /JSON object/],
    [
      ['submit', folder, '--script', 'train.py', '--venv', join(folder, 'none.json')],
      /none\.json does not exist\. Check/,
    ],
    [['submit', folder, '--script', 'train.py', '--venv', folder], /is a folder\. Enter the path of a file/],
    [['flow', 'check', folder], /is a folder\. Enter the path of a file/],
    [
      ['flow', 'eval', join(folder, 'agent.ts'), '--data', join(folder, 'none.csv')],
      /none\.csv does not exist\. Check/,
    ],
    [['search', ' ', '--folder', folder], /Enter words to search for/],
    [['submit', folder, '--bogus'], /unknown option '--bogus'/],
    [['bogus'], /unknown command 'bogus'/],
    [['watch'], /missing required argument/],
    [['me', '--remote', 'ftp://example.org'], /http/],
  ];
  for (const [args, sentence] of cases) {
    const done = await scratch.run([...args, '--json'], { env });
    assert.equal(done.exit, 2, `${args.join(' ')}: ${done.stderr}`);
    assert.match(done.stderr, sentence);
    const { error } = jsonLines(done.stdout)[0] as { error: { code: string; message: string } };
    assert.match(error.message, sentence);
    assert.doesNotMatch(done.stderr, /^ +at /m, 'a stack is no message');
  }
});

test('a job that the service does not know gives 2 and says how to find one', async () => {
  await using scratch = await Scratch.create();
  const { env } = await scratch.serve();
  for (const verb of ['job', 'watch', 'cancel', 'download']) {
    const done = await scratch.run([verb, 'nowhere'], { env });
    assert.equal(done.exit, 2);
    assert.match(done.stderr, /Job nowhere does not exist on 127\.0\.0\.1.*farwharf jobs/);
  }
});

test('a job that was sent to another service gives 2 and the service to name', async () => {
  await using scratch = await Scratch.create();
  const [service, other] = [await scratch.serve(), await scratch.serve()];
  const folder = await scratch.folder('project', { 'run.sh': 'true' });
  const job = (await scratch.run(['submit', folder, '--script', 'run.sh'], { env: service.env })).stdout.trim();
  for (const verb of ['job', 'watch', 'cancel', 'download', 'explain']) {
    const done = await scratch.run([verb, job], { env: other.env });
    assert.equal(done.exit, 2, done.stderr);
    const says = `Job ${job} does not exist on 127\\.0\\.0\\.1:\\d+\\. It was sent to another service: add {2}--remote ${service.url}\n`;
    assert.match(done.stderr, new RegExp(says));
  }
  assert.equal((await scratch.run(['job', job, '--remote', service.url], { env: service.env })).exit, 0);
});

test('a folder that cannot be read, or lies in one that cannot be entered, is named', async (t) => {
  await using scratch = await Scratch.create();
  const user = unprivileged();
  if (typeof user === 'string') return t.skip(user);
  const folder = await scratch.folder('project', { 'train.py': '' });
  const inside = await scratch.folder('closed/inside', { 'train.py': '' });
  const closed = [folder, dirname(inside)];
  await chmod(scratch.root, 0o755);
  for (const path of closed) await chmod(path, 0o000);
  const cases = [folder, inside].map(
    async (path) => [path, await scratch.run(['submit', path, '--script', 'train.py'], { user })] as const,
  );
  const done = await Promise.all(cases);
  for (const path of closed) await chmod(path, 0o700);
  for (const [path, { exit, stderr }] of done) {
    assert.equal(exit, 1, stderr);
    assert.match(stderr, new RegExp(`${path} cannot be read.*permission`));
  }
});

test('a wrong key and no key give 3, and the key is not shown', async () => {
  await using scratch = await Scratch.create();
  const { env } = await scratch.serve();
  const folder = await scratch.folder('project', { 'run.sh': '' });
  const wrong = { ...env, FARWHARF_API_KEY: 'not-the-key-of-this-service' };
  for (const args of [
    ['me'],
    ['submit', folder, '--script', 'run.sh', '--watch'],
    ['watch', 'job-1'],
    ['jobs', '--json'],
  ]) {
    const done = await scratch.run(args, { env: wrong });
    if (args[0] !== 'jobs') {
      assert.equal(done.exit, 3, done.stderr);
      assert.match(done.stderr, /HTTP 401.*Set FARWHARF_API_KEY/);
    }
    assert.doesNotMatch(done.stdout + done.stderr, /not-the-key/);
  }
  const missing = await scratch.run(['me'], { env: { FARWHARF_REMOTE_HOST: env['FARWHARF_REMOTE_HOST'] ?? '' } });
  assert.equal(missing.exit, 3);
  assert.match(missing.stderr, /FARWHARF_API_KEY/);
});

test('a disabled account gives 3 and whom to ask, not where to sign in, however often it asks', async () => {
  await using scratch = await Scratch.create();
  const service = await scratch.serve(await scratch.unisolated());
  using admin = await openAdmin(service.data, { mayCreate: false });
  await admin.call('accounts.add', { account_id: 'bob', credits: 10 });
  const { key } = await admin.call('keys.add', { account_id: 'bob' });
  await admin.call('accounts.disable', { account_id: 'bob' });
  // More often than wrong keys may come from an address.
  for (let count = 0; count < 40; count += 1) {
    const response = await fetch(`${service.url}/v1/me`, { headers: { authorization: `Bearer ${key}` } });
    assert.equal(response.status, 403, await response.text());
  }
  for (const verb of [['me'], ['watch', 'job-1']]) {
    const done = await scratch.run(verb, { env: { ...service.env, FARWHARF_API_KEY: key } });
    assert.equal(done.exit, 3, done.stderr);
    const says =
      /refused the request \(HTTP 403: The account bob is disabled\. Ask the operator of the service to enable it\)/;
    assert.match(done.stderr, says);
    assert.doesNotMatch(done.stderr, /FARWHARF_API_KEY|[Ss]ign in/);
  }
});

test('too few credits give 4, and no job is left in the list', async () => {
  await using scratch = await Scratch.create();
  const { env } = await scratch.serve(['--credits', '0']);
  const folder = await scratch.folder('project', { 'run.sh': '' });
  const done = await scratch.run(['submit', folder, '--script', 'run.sh', '--json'], { env });
  assert.equal(done.exit, 4, done.stderr);
  assert.deepEqual(
    jsonLines(done.stdout).map((line) => Object.keys(line)),
    [['error']],
  );
  assert.match((await scratch.run(['jobs'], { env })).stdout, /^No jobs/);
});

test('a service that is not there gives 5', async () => {
  await using scratch = await Scratch.create();
  const service = await scratch.serve();
  await service.stop();
  const folder = await scratch.folder('project', { 'run.sh': '' });
  for (const args of [['me'], ['submit', folder, '--script', 'run.sh'], ['watch', 'job-1'], ['cancel', 'job-1']]) {
    const done = await scratch.run(args, { env: service.env });
    assert.equal(done.exit, 5, done.stderr);
    assert.match(done.stderr, /Could not reach/);
  }
});

test('an answer that is lost after the upload gives 5, says so, and the folder is not sent again unasked', async () => {
  await using scratch = await Scratch.create();
  let uploads = 0;
  await using fake = await startFake((request, response) => {
    if (request.method === 'GET') response.end('{"credits": 10}');
    else request.resume().once('end', () => ++uploads && request.socket.destroy());
  });
  const { env } = fake;
  const folder = await scratch.folder('project', { 'run.sh': '' });
  const done = await scratch.run(['submit', folder, '--script', 'run.sh', '--json'], { env });
  assert.equal(done.exit, 5, done.stderr);
  assert.equal((jsonLines(done.stdout)[0] as { error: { code: string } }).error.code, 'outcome-unknown');
  const listed = await scratch.run(['jobs'], { env });
  assert.match(listed.stdout, /^unknown +run\.sh/m);
  const shown = await scratch.run(['job', listed.stdout.trim().split(' ').at(-1) ?? ''], { env });
  assert.equal(shown.exit, 2);
  assert.match(shown.stderr, /did not return a job ID.*may be running/s);
  const held = await scratch.run(['submit', folder, '--script', 'run.sh'], { env });
  assert.deepEqual([held.exit, uploads], [5, 1]);
  assert.match(held.stderr, /run\.sh .*got no response.*Nothing was sent now.*--again/);
  const again = await scratch.run(['submit', folder, '--script', 'run.sh', '--again'], { env });
  assert.deepEqual([again.exit, uploads], [5, 2], again.stderr);
});

test('serve --check leaves neither folders nor a log behind that did not exist', async () => {
  await using scratch = await Scratch.create();
  const before = await readdir(scratch.root);
  const [data, log] = [join(scratch.root, 'srv', 'farwharf'), join(scratch.root, 'log', 'service.log')];
  const checked = await scratch.run(['serve', '--check', '--data', data, '--log', log]);
  assert.equal(checked.exit, 0, checked.stderr);
  assert.match(checked.stderr, /^ok {7}the data folder .* can be written$/m);
  assert.deepEqual(await readdir(scratch.root), before);
});

test('the service ends with 0 at SIGTERM, and prints its key once', async () => {
  await using scratch = await Scratch.create();
  const service = await scratch.serveAsProcess();
  assert.match(service.key, /^[\w-]{40,}$/);
  assert.equal(await service.stop(), 0);
});

/** A user whom permissions hold back, as they do not root: nobody, where the tests run as root. Or why there is none. */
function unprivileged(): { uid: number; gid: number } | undefined | string {
  if (process.platform === 'win32') return 'WINDOWS HAS NO SUCH PERMISSIONS';
  if (process.getuid?.() !== 0) return undefined;
  const nobody = { uid: 65_534, gid: 65_534 };
  const canRead = spawnSync(process.execPath, ['--check', built('cli.mjs')], nobody).status === 0;
  return canRead ? nobody : 'ROOT READS EVERYTHING, AND NOBODY MAY NOT READ THIS FOLDER';
}
