import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import { Duplex, PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import { AppError } from '../../../../../src/core/errors.ts';
import { forwardPort } from '../../../../../src/remote/tunnel/forwardPort.ts';

/** A job whose port repeats what it gets. */
const echo = { connect: async () => new PassThrough({ allowHalfOpen: true }) };

test('a forwarded port has the same number, or another one if that is in use, on loopback only', async () => {
  const taken = createServer().listen(0, '127.0.0.1');
  await once(taken, 'listening');
  const address = taken.address();
  assert.ok(address !== null && typeof address === 'object');
  const { port } = address;
  {
    await using other = await forwardPort(echo, port);
    assert.notEqual(other.localPort, port);
    await assert.rejects(forwardPort(echo, 6006, { localPort: port }), { code: 'conflict', message: /in use/ });
  }
  taken.close();
  await once(taken, 'close');
  await using own = await forwardPort(echo, port);
  assert.equal(own.localPort, port);
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
  socket.end('typed');
  assert.equal(await text(socket), 'typed');
});

test('a connection that fails in the job is reset here, with the reason, and the port stays', async () => {
  const reasons: unknown[] = [];
  const broken = new Duplex({ read() {}, write: (_chunk, _encoding, done) => done(new Error('it broke')) });
  const answers = [Promise.reject(new AppError('missing', 'nothing listens')), Promise.resolve(broken), echo.connect()];
  for (const answer of answers) answer.catch(() => {});
  const job = { connect: () => answers.shift() ?? echo.connect() };
  await using forwarded = await forwardPort(job, 6006, { onFailure: (error) => reasons.push(error) });
  const ask = async (word: string) => {
    const socket = connect({ port: forwarded.localPort, host: '127.0.0.1', allowHalfOpen: true });
    socket.end(word);
    return text(socket);
  };
  await assert.rejects(ask('one'), { code: 'ECONNRESET' });
  await assert.rejects(ask('two'), { code: 'ECONNRESET' });
  assert.equal(await ask('three'), 'three');
  assert.deepEqual(reasons.map(String), ['AppError: nothing listens']);
});
