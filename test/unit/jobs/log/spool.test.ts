import assert from 'node:assert/strict';
import { appendFileSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { test } from 'node:test';
import { EventSpool } from '../../../../src/jobs/log/spool.ts';
import { tempHome } from '../fixtures.ts';

const log = (text: string, id?: string): { event: string; data: unknown; id?: string } => ({
  event: 'log',
  data: { stream: 'stdout', text },
  ...(id !== undefined && { id }),
});

test('events come back in order, with ids, own marks and any JSON', async (t) => {
  const spool = new EventSpool(tempHome(t), 'job');
  assert.deepEqual(await Array.fromAsync(spool.read()), []);
  await spool.append([log('größe 🚀\n', '7'), { event: 'odd', data: null }]);
  await spool.append([{ event: 'gap', data: { text: 'lost' }, own: true }]);
  const events = await Array.fromAsync(spool.read());
  assert.deepEqual(
    events.map(({ event, data, id, own }) => [event, data, id, own]),
    [
      ['log', { stream: 'stdout', text: 'größe 🚀\n' }, '7', undefined],
      ['odd', null, undefined, undefined],
      ['gap', { text: 'lost' }, undefined, true],
    ],
  );
  assert.equal(events.at(-1)?.seq, statSync(spool.path).size);
  if (process.platform !== 'win32') assert.equal(statSync(spool.path).mode & 0o777, 0o600);
});

test('reading continues after any event', async (t) => {
  const spool = new EventSpool(tempHome(t), 'job');
  await spool.append(Array.from({ length: 500 }, (_, index) => log(`${index} ${'x'.repeat(index * 7)}`)));
  const all = await Array.fromAsync(spool.read());
  assert.equal(all.length, 500);
  for (const at of [0, 1, 250, 498, 499]) {
    assert.deepEqual(await Array.fromAsync(spool.read({ after: all[at]?.seq ?? 0 })), all.slice(at + 1));
  }
});

test('a line longer than any buffer survives', async (t) => {
  const spool = new EventSpool(tempHome(t), 'job');
  const text = 'é'.repeat(1_500_000);
  await spool.append([log(text), log('after')]);
  const [first, second] = await Array.fromAsync(spool.read());
  assert.deepEqual(first?.data, { stream: 'stdout', text });
  assert.deepEqual(second?.data, { stream: 'stdout', text: 'after' });
  assert.equal((await spool.tail()).length > 0, true);
});

test('whatever byte a crash cut the file at, the whole lines are read and later ones are appended cleanly', async (t) => {
  const home = tempHome(t);
  const spool = new EventSpool(home, 'job');
  await spool.append([log('one'), log('zwölf')]);
  const bytes = readFileSync(spool.path);
  const firstLine = bytes.indexOf(10) + 1;
  for (let length = firstLine; length < bytes.length; length += 1) {
    writeFileSync(spool.path, bytes.subarray(0, length));
    const torn = new EventSpool(home, 'job');
    assert.equal((await Array.fromAsync(torn.read())).length, 1, `cut at ${length}`);
    await torn.append([log('after')]);
    const events = await Array.fromAsync(torn.read());
    assert.deepEqual(events.at(-1)?.data, { stream: 'stdout', text: 'after' });
    assert.deepEqual(events[0]?.data, { stream: 'stdout', text: 'one' });
  }
});

test('lines that are no events are passed over', async (t) => {
  const spool = new EventSpool(tempHome(t), 'job');
  await spool.append([log('one')]);
  appendFileSync(spool.path, 'null\n[]\n{"event":1}\n\u0000\u0000\n');
  await spool.append([log('two')]);
  assert.equal((await Array.fromAsync(spool.read())).length, 2);
});

test('over its limit the log says so once and keeps the states and the end', async (t) => {
  const home = tempHome(t);
  const spool = new EventSpool(home, 'job', { maxBytes: 1_000 });
  for (let index = 0; index < 50; index += 1) await spool.append([log(`line ${index}`)]);
  const again = new EventSpool(home, 'job', { maxBytes: 1_000 });
  await again.append([log('later'), { event: 'state', data: { state: 'failed' } }, { event: 'end', data: {} }]);
  const kinds = (await Array.fromAsync(spool.read())).map(({ event }) => event);
  assert.equal(kinds.filter((kind) => kind === 'truncated').length, 1);
  assert.deepEqual(kinds.slice(-4), ['truncated', 'state', 'log', 'end']);
  assert.ok(statSync(spool.path).size < 1_500);
});

test('following sees what others append and ends with the job', async (t) => {
  const home = tempHome(t);
  const [writer, reader] = [new EventSpool(home, 'job'), new EventSpool(home, 'job')];
  const reading = Array.fromAsync(reader.follow({ signal: t.signal }));
  for (let index = 0; index < 20; index += 1) {
    await writer.append([log(String(index))]);
    await sleep(index % 5);
  }
  await writer.append([{ event: 'end', data: {} }]);
  const events = await reading;
  assert.equal(events.length, 21);
  // Going on behind the end ends at once instead of waiting for ever.
  const after = events.at(-1)?.seq ?? 0;
  assert.deepEqual(await Array.fromAsync(reader.follow({ after, signal: t.signal })), []);
});

test('following from the middle of a log gives the rest and what is appended later', async (t) => {
  const spool = new EventSpool(tempHome(t), 'job');
  await spool.append([log('one'), log('two'), log('three')]);
  const [first] = await Array.fromAsync(spool.read());
  const reading = Array.fromAsync(spool.follow({ after: first?.seq ?? 0, signal: t.signal }));
  await spool.append([log('four'), { event: 'end', data: {} }]);
  assert.deepEqual(
    (await reading).map(({ event, data }) => (event === 'log' ? data : event)),
    [log('two').data, log('three').data, log('four').data, 'end'],
  );
});

test('following ends with its signal, also before there is a file', async (t) => {
  const spool = new EventSpool(tempHome(t), 'job');
  const stop = new AbortController();
  const reading = Array.fromAsync(spool.follow({ signal: stop.signal }));
  await sleep(20);
  stop.abort(new Error('enough'));
  await assert.rejects(reading, /enough/);
});

test('the tail reaches back to an event of the service, over any number of our own', async (t) => {
  const spool = new EventSpool(tempHome(t), 'job');
  await spool.append([log('first', '41')]);
  const own = { event: 'gap', data: { text: 'x'.repeat(1_000) }, own: true } as const;
  await spool.append(Array.from({ length: 200 }, () => own));
  assert.equal((await spool.tail()).find(({ id }) => id !== undefined)?.id, '41');
});

test('of a log beyond the limit, the start and the end are stored, with a note between', async (t) => {
  const spool = new EventSpool(tempHome(t), 'job', { maxBytes: 10_000 });
  for (let line = 0; line < 2_000; line += 1) await spool.append([log(`line ${line}\n`)]);
  await spool.append([{ event: 'end', data: { state: 'failed' } }]);
  const events = await Array.fromAsync(spool.read());
  const texts = events.map(({ data }) => JSON.stringify(data));
  assert.equal(texts[0], JSON.stringify(log('line 0\n').data));
  assert.equal(texts.at(-2), JSON.stringify(log('line 1999\n').data));
  assert.equal(events.filter(({ event }) => event === 'truncated').length, 1);
  assert.ok(statSync(spool.path).size < 10_000 + 70_000);
});
