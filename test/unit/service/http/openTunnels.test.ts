import assert from 'node:assert/strict';
import { once } from 'node:events';
import { PassThrough, Writable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { setImmediate as turn } from 'node:timers/promises';
import { test } from 'node:test';
import { passOn } from '../../../../src/service/http/openTunnels.ts';

const UNLIMITED = Number.POSITIVE_INFINITY;

test('bytes are passed on, counted, and the end with them unless it is kept', async () => {
  const [from, to] = [new PassThrough(), new PassThrough()];
  let counted = 0;
  passOn(from, to, { count: (bytes) => (counted += bytes), bytesPerSecond: UNLIMITED });
  from.write('one ');
  from.end('two');
  assert.equal(await text(to), 'one two');
  assert.equal(counted, 7);
  const [ends, stays] = [new PassThrough(), new PassThrough()];
  passOn(ends, stays, { count: () => {}, bytesPerSecond: UNLIMITED, keepsOpen: true });
  ends.end();
  await once(ends, 'end');
  await turn();
  assert.equal(stays.writable, true);
});

for (const bytesPerSecond of [UNLIMITED, 1e9]) {
  test(`what the other side does not take stays where it is, at ${bytesPerSecond} bytes a second`, async () => {
    const from = new PassThrough();
    const seen = { received: 0 };
    const waiting: (() => void)[] = [];
    const release = (): void => waiting.shift()?.(); // each once: nothing may have been written since the last one
    const to = new Writable({
      write(chunk: Buffer, _encoding, done) {
        seen.received += chunk.length;
        waiting.push(done);
      },
    });
    let counted = 0;
    passOn(from, to, { count: (bytes) => (counted += bytes), bytesPerSecond });
    const chunk = Buffer.alloc(65_536);
    let written = 0;
    while (!from.writableNeedDrain) {
      from.write(chunk);
      written += chunk.length;
      await turn();
    }
    assert.ok(counted <= 2 * 65_536, String(counted));
    from.end();
    while (seen.received < written) {
      release();
      await turn();
    }
    release();
    await once(to, 'finish');
    assert.equal(counted, written);
  });
}

test('no more than so many bytes a second pass', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const [from, to] = [new PassThrough(), new PassThrough()];
  passOn(from, to, { count: () => {}, bytesPerSecond: 10 });
  from.write('0123456789');
  await turn();
  from.write('abc');
  await turn();
  await turn();
  assert.equal(String(to.read()), '0123456789');
  t.mock.timers.tick(500);
  await turn();
  assert.equal(to.read(), null);
  t.mock.timers.tick(600);
  await turn();
  await turn();
  assert.equal(String(to.read()), 'abc');
});
