import assert from 'node:assert/strict';
import { test } from 'node:test';
import { containing, findInLog, isErrorLine, type LogLine } from '../../../../src/jobs/log/findInLog.ts';
import { LogParts } from '../../../../src/jobs/log/logParts.ts';
import { EventSpool, type NewEvent } from '../../../../src/jobs/log/spool.ts';
import { wholeLog } from '../../../../src/jobs/log/viewText.ts';
import { tempHome } from '../fixtures.ts';

const { signal } = new AbortController();
const log = (text: string): NewEvent => ({ event: 'log', data: { stream: 'stdout', text } });
const state = (name: string): NewEvent => ({ event: 'state', data: { state: name, at: '2026-01-01T00:00:00.000Z' } });
const lines = (from: number, to: number): string =>
  Array.from({ length: to - from }, (_, index) => `line ${from + index}\n`).join('');

async function spoolOf(t: Parameters<typeof tempHome>[0], events: readonly NewEvent[]): Promise<EventSpool> {
  const spool = new EventSpool(tempHome(t), 'job');
  await spool.append(events);
  return spool;
}

async function textOf(spool: EventSpool): Promise<string> {
  return (await Array.fromAsync(wholeLog(spool, signal))).join('');
}

test('the parts of a log are the whole log, each starts with a whole line, and line numbers lead to them', async (t) => {
  const pieces = Array.from({ length: 40 }, (_, index) => log(lines(index * 25, index * 25 + 25).slice(0, -1) + '\nx'));
  const spool = await spoolOf(t, [state('queued'), state('running'), ...pieces, log('\n'), state('succeeded')]);
  const parts = new LogParts(spool, { partLines: 100 });
  await parts.update(signal);
  const texts = await Promise.all(parts.all.map((_, index) => parts.read(index, signal)));
  assert.ok(texts.length > 3);
  assert.equal(texts.join(''), await textOf(spool));
  const whole = texts.join('').split('\n');
  const found = await Array.fromAsync(findInLog(spool, containing('LINE 700'), signal));
  assert.equal(whole[(found[0]?.line ?? 0) - 1], found[0]?.text);
  const index = parts.partOf(found[0]?.line ?? 0);
  const row = (found[0]?.line ?? 0) - (parts.all[index]?.firstLine ?? 0);
  assert.equal(texts[index]?.split('\n')[row], found[0]?.text);
});

test('a log that grows gets new parts, and its last part has the new lines and the right duration', async (t) => {
  const spool = await spoolOf(t, [state('running'), log(lines(0, 100)), log(lines(100, 110))]);
  const parts = new LogParts(spool, { partLines: 100 });
  await parts.update(signal);
  assert.equal(parts.all.length, 2);
  const end = { state: 'failed', at: '2026-01-01T00:01:00.000Z' };
  await spool.append([log('more\n'), { event: 'state', data: end }, { event: 'end', data: { state: 'failed' } }]);
  await parts.update(signal);
  assert.equal(parts.all.length, 2);
  assert.match(await parts.read(1, signal), /^line 100\n[^]*more\n› failed after 1 min/);
});

test('the last of many parts knows when the job started, in whichever part that was', async (t) => {
  const before = [0, 1].map((part) => log(lines(part * 100, part * 100 + 100)));
  const after = [2, 3].map((part) => log(lines(part * 100, part * 100 + 100)));
  const end = { state: 'failed', at: '2026-01-01T00:01:00.000Z' };
  const ended = [
    { event: 'state', data: end },
    { event: 'end', data: { state: 'failed' } },
  ];
  const spool = await spoolOf(t, [...before, state('running'), ...after, ...ended]);
  const parts = new LogParts(spool, { partLines: 100 });
  await parts.update(signal);
  assert.match(await parts.read(parts.all.length - 1, signal), /failed after 1 min/);
});

test('a part begins after output only, however often the state changes', async (t) => {
  const spool = await spoolOf(t, [...Array.from({ length: 250 }, () => state('queued')), log('a\n'), log('b\n')]);
  const parts = new LogParts(spool, { partLines: 100 });
  await parts.update(signal);
  assert.deepEqual(
    parts.all.map(({ firstLine }) => firstLine),
    [1, 252],
  );
});

test('lines of 10 MB are shortened where they are shown, and saved whole', async (t) => {
  const long = 'x'.repeat(1_000_000);
  const spool = await spoolOf(t, [...Array.from({ length: 10 }, () => log(long)), log('\nafter\n')]);
  const parts = new LogParts(spool);
  await parts.update(signal);
  const texts = await Promise.all(parts.all.map((_, index) => parts.read(index, signal)));
  assert.ok(texts.every((text) => text.length < 20_000));
  assert.match(texts.join(''), /… [\d,]+ more characters in this line\nafter\n$/);
  assert.equal((await textOf(spool)).length, 10_000_000 + '\nafter\n'.length);
});

test('a rewritten line that never ends, and bytes of a binary file, take bounded memory', async (t) => {
  const binary = Array.from({ length: 65_536 }, (_, index) => String.fromCharCode((index * 7919) % 65_536)).join('');
  const events = Array.from({ length: 50 }, () => log(`\r${binary}`.replaceAll('\n', '')));
  const spool = await spoolOf(t, events);
  const parts = new LogParts(spool);
  await parts.update(signal);
  const text = await parts.read(0, signal);
  assert.ok(text.length < 2_000_000);
  assert.ok(text.isWellFormed());
  assert.doesNotMatch(text, /[\u0000-\u0008\u001b\u202e]/);
});

test('the first error of a log is an error, not a line that only has the word', async (t) => {
  const spool = await spoolOf(t, [
    log('0 errors so far\nerror rate 0.3\nno error\nerr'),
    log('or: found later\nERROR late\n'),
  ]);
  const found: LogLine[] = await Array.fromAsync(findInLog(spool, isErrorLine, signal));
  assert.deepEqual(found, [
    { line: 4, text: 'error: found later' },
    { line: 5, text: 'ERROR late' },
  ]);
  for (const line of [
    'Traceback (most recent call last):',
    "KeyError: 'lr'",
    'java.lang.IllegalStateException: no',
    'error[E0382]: borrow of moved value',
    "thread 'main' panicked at src/main.rs:2:5:",
    '2026-11-24 10:00:00 | ERROR | disk',
    'main.c:3:5: error: unknown type',
    'Segmentation fault (core dumped)',
  ])
    assert.ok(isErrorLine(line), line);
});

test('searched text is text, whatever characters it has', async (t) => {
  const spool = await spoolOf(t, [log('a.b [c] (d) $e ^f \\g\naxb\n')]);
  for (const text of ['a.b', '[c] (d)', '$e ^f \\g', 'A.B'])
    assert.equal((await Array.fromAsync(findInLog(spool, containing(text), signal))).length, 1, text);
});

test('a part that does not exist is empty, and the reader of a part sees its events alone', async (t) => {
  const events = [log(lines(0, 10)), log(lines(10, 20)), log(lines(20, 25))];
  const parts = new LogParts(await spoolOf(t, events), { partLines: 10 });
  await parts.update(signal);
  assert.deepEqual(
    parts.all.map(({ firstLine }) => firstLine),
    [1, 11, 21],
  );
  const seen: unknown[] = [];
  const push = ({ data }: { readonly data: unknown }): void => void seen.push(data);
  assert.equal(await parts.read(1, signal, { push }), lines(10, 20));
  assert.deepEqual(seen, [events[1]?.data]);
  assert.equal(await parts.read(3, signal, { push }), '');
  assert.equal(await parts.read(-1, signal, { push }), '');
  assert.deepEqual(seen, [events[1]?.data]);
  assert.deepEqual(
    [0, 1, 10, 11, 20, 21, 1_000].map((line) => parts.partOf(line)),
    [0, 0, 0, 1, 1, 2, 2],
  );
});
