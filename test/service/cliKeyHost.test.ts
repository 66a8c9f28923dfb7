import assert from 'node:assert/strict';
import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { Scratch, startFake } from './commandLine.ts';

/** A service that notes the keys that it is sent. */
async function startListener() {
  const seen: (string | undefined)[] = [];
  const fake = await startFake((request, response) => {
    seen.push(request.headers.authorization);
    response.setHeader('Content-Type', 'application/json');
    response.end(JSON.stringify({ account_id: 'a', plan: 'p', credits: 1, rate_card: [] }));
  });
  return { ...fake, url: fake.env['FARWHARF_REMOTE_HOST'] ?? '', seen };
}

test("--remote with another service's address does not send it other keys", async () => {
  await using scratch = await Scratch.create();
  await using other = await startListener();
  const key = 'fw-key-of-the-team';
  const others: Record<string, string>[] = [{}, { FARWHARF_REMOTE_HOST: 'https://gpu.example.org' }];
  for (const belongs of others) {
    const done = await scratch.run(['me', '--remote', other.url], { env: { ...belongs, FARWHARF_API_KEY: key } });
    assert.deepEqual(other.seen, [], 'nothing reached the other service');
    assert.equal(done.exit, 3, done.stderr);
    assert.ok(done.stderr.includes(`FARWHARF_REMOTE_HOST=${other.url}`), done.stderr);
    assert.ok(!done.stderr.includes(key));
  }
  const same = { FARWHARF_REMOTE_HOST: `${other.url}/`, FARWHARF_API_KEY: key };
  assert.equal((await scratch.run(['me', '--remote', other.url], { env: same })).exit, 0);
  assert.deepEqual(other.seen, [`Bearer ${key}`]);
});

test('a key file is used for its host alone, and only while nobody else can read it', async () => {
  await using scratch = await Scratch.create();
  await using own = await startListener();
  await using other = await startListener();
  const folder = join(scratch.home, 'keys');
  await mkdir(folder, { recursive: true });
  const file = join(folder, new URL(own.url).host.replace(':', '_'));
  await writeFile(file, 'fw-key-in-a-file\n', { mode: 0o600 });

  assert.equal((await scratch.run(['me', '--remote', own.url])).exit, 0);
  assert.deepEqual(own.seen, ['Bearer fw-key-in-a-file']);
  assert.equal((await scratch.run(['me', '--remote', other.url])).exit, 3);
  assert.deepEqual(other.seen, []);

  await chmod(file, 0o644);
  const open = await scratch.run(['me', '--remote', own.url]);
  assert.equal(open.exit, 1, open.stderr);
  assert.ok(open.stderr.includes(`chmod 600 ${file}`), open.stderr);
  assert.equal(own.seen.length, 1);
});
