import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { chmod, mkdir, readdir, stat, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { test } from 'node:test';
import { Scratch } from './commandLine.ts';

test('a service address file that others can write is refused before any request', async (t) => {
  await using scratch = await Scratch.create();
  const key = 'the-key-of-an-intruder';
  const asked: string[] = [];
  const server = createServer((request, response) => {
    asked.push(`${request.method} ${request.url}`);
    const nonce = new URL(request.url ?? '/', 'http://x').searchParams.get('nonce');
    if (nonce !== null) {
      response.end(JSON.stringify({ proof: createHmac('sha256', key).update(nonce).digest('hex') }));
    } else if (request.method === 'POST') {
      request.resume().on('end', () => response.end(JSON.stringify({ job_id: 'taken' })));
    } else {
      response.writeHead(404).end('{}');
    }
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close());
  t.after(() => server.closeAllConnections());
  const folder = await scratch.folder('project', { 'run.sh': 'echo secret\n' });
  const state = join(scratch.home, 'service', 'state.json');
  await mkdir(join(scratch.home, 'service'), { recursive: true, mode: 0o700 });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  await writeFile(state, JSON.stringify({ url, key, pid: process.pid, version: '0.0.0' }));
  await chmod(state, 0o666);
  const done = await scratch.run(['submit', folder, '--script', 'run.sh']);
  await chmod(state, 0o600); // so that the end of the test reads it
  await writeFile(state, '');
  assert.notEqual(done.exit, 0, done.stdout);
  assert.match(done.stderr, new RegExp(`${state} can be written by other users \\(mode 0666\\).*chmod go-w ${state}`));
  assert.deepEqual(asked, []);
});

test('stored data of a folder and its jobs is private to this user with any umask', async () => {
  await using scratch = await Scratch.create();
  const { env } = await scratch.serve();
  const folder = await scratch.folder('project', { 'run.sh': 'echo made > made.txt\n', 'notes.md': 'private words\n' });
  const before = process.umask(0);
  try {
    assert.equal((await scratch.run(['index', folder])).exit, 0);
    const done = await scratch.run(['submit', folder, '--script', 'run.sh', '--watch'], { env });
    assert.equal(done.exit, 0, done.stderr);
  } finally {
    process.umask(before);
  }
  const open: string[] = [];
  for (const entry of await readdir(scratch.home, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    if (((await stat(path)).mode & 0o077) !== 0) open.push(path);
  }
  assert.deepEqual(open, []);
});

test('a store that an older version left world-readable becomes private', async () => {
  await using scratch = await Scratch.create();
  const service = await scratch.serve();
  await service.stop();
  const store = join(service.data, 'service.db');
  await chmod(store, 0o644);
  const account = await scratch.run(['admin', 'account', 'list', '--data', service.data]);
  assert.equal(account.exit, 0, account.stderr);
  assert.equal((await stat(store)).mode & 0o777, 0o600);
  await chmod(store, 0o646);
  const refused = await scratch.run(['admin', 'account', 'list', '--data', service.data]);
  assert.notEqual(refused.exit, 0);
  assert.match(refused.stderr, /service\.db can be written by other users \(mode 0646\).*chmod go-w/);
});

test('a service takes no key that can be guessed', async () => {
  await using scratch = await Scratch.create();
  for (const key of ['abc', 'a'.repeat(64), 'short-but-not-so-simple', 'abababababababababababababababab']) {
    const env = { FARWHARF_API_KEY: key };
    const done = await scratch.run(['serve', '--port', '0', '--data', join(scratch.root, 'data')], { env });
    assert.equal(done.exit, 2, done.stderr);
    assert.match(done.stderr, /too easy to guess: .*openssl rand -base64 32/);
    assert.ok(!done.stderr.includes(key));
  }
});

test('a key that a person chose cannot be tried against anything but the service itself', async () => {
  await using scratch = await Scratch.create();
  const { url, key } = await scratch.serve([], {
    FARWHARF_API_KEY: 'correct horse battery staple'.replaceAll(' ', '-'),
  });
  assert.equal(key, 'correct-horse-battery-staple');
  const health = (await (await fetch(`${url}/healthz?nonce=0123456789abcdef`)).json()) as Record<string, unknown>;
  assert.deepEqual(Object.keys(health), ['status', 'version', 'parts']);
});

test('a configuration that others can write is not used, nor one in a folder of others', async () => {
  await using scratch = await Scratch.create();
  const folder = await scratch.folder('settings', { 'service.toml': 'executor = "process"\n' });
  const config = join(folder, 'service.toml');
  const check = ['serve', '--check', '--config', config, '--data', join(folder, 'data')];
  await chmod(config, 0o666);
  const open = await scratch.run(check);
  assert.notEqual(open.exit, 0);
  assert.match(open.stderr, /service\.toml can be written by other users \(mode 0666\)/);
  await chmod(config, 0o644);
  await chmod(folder, 0o777);
  assert.match((await scratch.run(check)).stderr, /settings can be written by other users \(mode 0777\)/);
  await chmod(folder, 0o755);
  assert.doesNotMatch((await scratch.run(check)).stderr, /can be written by other users/);
});
