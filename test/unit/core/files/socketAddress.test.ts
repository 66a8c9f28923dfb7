import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { join } from 'node:path';
import { test } from 'node:test';
import { openSocketAddress } from '../../../../src/core/files/socketAddress.ts';
import { openFilesIn } from '../../openFiles.ts';
import { temporaryFolder } from '../../workspace/temporaryFolder.ts';

test('an address of at most 103 bytes is the path itself', () => {
  for (const path of ['/run/service.sock', `/${'x'.repeat(102)}`, `/${'é'.repeat(51)}`]) {
    using address = openSocketAddress(path);
    assert.equal(address.path, path);
  }
});

test('a path that is too long for an address is reached through its folder, until it is disposed', {
  skip: process.platform !== 'linux' && 'ONLY ON LINUX: elsewhere such a path is refused',
}, async (t) => {
  const root = temporaryFolder(t);
  const folder = join(root, 'é'.repeat(60));
  mkdirSync(folder);
  const path = join(folder, 'service.sock');
  {
    using address = openSocketAddress(path);
    assert.ok(Buffer.byteLength(address.path) < 103);
    const server = createServer((socket) => socket.end('here')).listen(address.path);
    await once(server, 'listening');
    const socket = connect(address.path);
    const [bytes] = (await once(socket, 'data')) as [Buffer];
    assert.equal(bytes.toString(), 'here');
    socket.destroy();
    server.close();
    assert.deepEqual(openFilesIn(root), [folder]);
  }
  assert.deepEqual(openFilesIn(root), []);
  assert.throws(() => openSocketAddress(join(root, 'missing', 'x'.repeat(100))), { code: 'ENOENT' });
});
