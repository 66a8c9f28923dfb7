import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { appendFileSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { namedFilePieces, readNamedFile } from '../../../../src/core/files/namedFile.ts';

function folder(t: TestContext): string {
  const path = mkdtempSync(join(tmpdir(), 'farwharf-named-'));
  t.after(() => rmSync(path, { recursive: true }));
  return path;
}

test('a file is read as it is, also an empty one and one of /proc, which has no size', async (t) => {
  const path = join(folder(t), 'a.json');
  writeFileSync(path, '{"é": 1}\n');
  assert.equal(await readNamedFile(path), '{"é": 1}\n');
  writeFileSync(path, '');
  assert.equal(await readNamedFile(path), '');
  if (process.platform === 'linux') assert.match(await readNamedFile('/proc/self/status'), /^Name:/);
});

test('pipes, sockets, devices and folders are refused at once, also behind links', {
  skip: process.platform === 'win32',
}, async (t) => {
  const root = folder(t);
  const [pipe, socket, zero] = ['pipe', 'socket', 'zero'].map((name) => join(root, name)) as [string, string, string];
  assert.equal(spawnSync('mkfifo', [pipe]).status, 0);
  const server = createServer().listen(socket);
  t.after(() => server.close());
  await new Promise((resolve) => server.once('listening', resolve));
  symlinkSync('/dev/zero', zero);
  mkdirSync(join(root, 'sub'));
  await assert.rejects(readNamedFile(pipe), { code: 'bad-input', message: /pipe is a pipe, not a file\. Save/ });
  await assert.rejects(readNamedFile(socket), { code: 'bad-input', message: /is a socket/ });
  await assert.rejects(readNamedFile(zero, { name: 'X' }), {
    code: 'bad-input',
    message: /^X is a device, not a file/,
  });
  await assert.rejects(readNamedFile(join(root, 'sub')), { message: /is a folder\. Enter the path of a file\./ });
  await assert.rejects(readNamedFile(join(root, 'none')), {
    code: 'missing',
    message: /does not exist\. Check the path\./,
  });
});

test('a file that is, or becomes, larger than allowed is refused, however large it says it is', async (t) => {
  const path = join(folder(t), 'large');
  writeFileSync(path, 'x');
  truncateSync(path, 1e12);
  await assert.rejects(readNamedFile(path), {
    code: 'bad-input',
    message: /has at least 1\.0 TB, and may have at most 32\.0 MB/,
  });
  writeFileSync(path, 'x'.repeat(200_000));
  const growing = namedFilePieces(path, { maxBytes: 1e6 });
  assert.ok(((await growing.next()).value?.length ?? 0) > 0);
  for (let times = 0; times < 40; times += 1) appendFileSync(path, 'x'.repeat(100_000));
  await assert.rejects(Array.fromAsync(growing), { code: 'bad-input', message: /may have at most 1\.0 MB/ });
});
