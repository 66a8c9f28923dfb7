import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { OutputLog } from '../../../../../src/service/runner/output/outputLog.ts';
import { type SmallDisk, smallDisk } from '../../../../smallDisk.ts';
import { temporaryFolder } from '../../../workspace/temporaryFolder.ts';

const READ_BYTES = 64 * 1024;

function open(t: TestContext, folder = temporaryFolder(t)) {
  const path = join(folder, 'output.ndjson');
  const log = new OutputLog(path, 1e9);
  const lines = (): readonly string[] =>
    readFileSync(path, 'utf8')
      .split('\n')
      .filter((line) => line !== '');
  const texts = () => lines().map((line) => (JSON.parse(line) as { stream: string; text: string }).text);
  return { log, texts };
}

test('a line that the end of a read has cut stays whole beside the other stream', (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const { log, texts } = open(t);
  const output = Buffer.from('0123456789 ünïcödé\n'.repeat(10_000));
  for (let start = 0; start < output.length; start += READ_BYTES) {
    log.append('stdout', output.subarray(start, start + READ_BYTES));
    log.append('stderr', Buffer.from('ERROR\n'));
  }
  log.close();
  const others = texts().filter((text) => text !== 'ERROR\n');
  assert.equal(others.join(''), output.toString());
  assert.ok(others.length > 1 && others.every((text) => text.endsWith('\n')));
});

test('the start of a line is stored when nothing follows, and a short read at once', (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const { log, texts } = open(t);
  log.append('stdout', Buffer.from('Name? '));
  assert.deepEqual(texts(), ['Name? ']);
  log.append('stdout', Buffer.from(`${'x'.repeat(READ_BYTES - 7)}\nName? `));
  assert.equal(texts().at(-1)?.endsWith('x\n'), true);
  t.mock.timers.tick(1_000);
  assert.equal(texts().at(-1), 'Name? ');
  log.close();
});

test('a line longer than a read is stored piece by piece', (t) => {
  const { log, texts } = open(t);
  log.append('stdout', Buffer.alloc(READ_BYTES, 'x'));
  assert.equal(texts().join('').length, READ_BYTES);
  log.close();
});

/** A log on a disk that is full. */
function openOnFullDisk(t: TestContext): (ReturnType<typeof open> & { readonly small: SmallDisk }) | undefined {
  const small = smallDisk(t, 2);
  if (small === undefined) return undefined;
  const opened = open(t, small.disk);
  small.fill();
  return { ...opened, small };
}

test('output that a full disk has no room for is stored in its order when there is room again', (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const opened = openOnFullDisk(t);
  if (opened === undefined) return;
  const { log, texts, small } = opened;
  log.append('stdout', Buffer.from('first\n'));
  log.append('stderr', Buffer.from('second\n'));
  assert.deepEqual(texts(), []);
  t.mock.timers.tick(1_000);
  assert.deepEqual(texts(), []);
  small.free();
  t.mock.timers.tick(1_000);
  assert.deepEqual(texts(), ['first\n', 'second\n']);
  log.append('stdout', Buffer.from('third\n'));
  assert.deepEqual(texts(), ['first\n', 'second\n', 'third\n']);
  log.close();
});

test('while the disk is full a bounded part of the output waits, and the log says how much is missing after it', (t) => {
  const opened = openOnFullDisk(t);
  if (opened === undefined) return;
  const { log, texts, small } = opened;
  const lines = Array.from({ length: 1_800 }, (_, index) => `${String(index).padStart(999, '.')}\n`);
  for (const line of lines) {
    // Where only a part of a line fits, that must not leave half a line.
    if (line.endsWith('99\n')) small.freePages(1);
    log.append('stdout', Buffer.from(line));
  }
  assert.doesNotThrow(texts, 'whole lines only');
  small.free();
  log.append('stdout', Buffer.from(`${'x'.repeat(READ_BYTES)}\n`));
  log.append('stdout', Buffer.from('last\n'));
  log.close();
  const stored = texts();
  const gaps = stored.filter((text) => text.startsWith('\n['));
  assert.equal(gaps.length, 1);
  assert.match(gaps[0] ?? '', /^\n\[\d+ KB of output are missing, because the disk was full\]\n$/);
  const before = stored.slice(0, stored.indexOf(gaps[0] ?? ''));
  assert.deepEqual(before, lines.slice(0, before.length));
  assert.ok(before.length > 900 && before.length < 1_200, `${before.length} lines of 1 kB`);
  assert.deepEqual(stored.slice(before.length + 1), [`${'x'.repeat(READ_BYTES)}\n`, 'last\n']);
});

test('the end of a job waits for room for its output', async (t) => {
  const opened = openOnFullDisk(t);
  if (opened === undefined) return;
  const { log, texts, small } = opened;
  log.append('stdout', Buffer.from('done\n'));
  const closed = log.closeWhenStored(new AbortController().signal);
  small.free();
  await closed;
  assert.deepEqual(texts(), ['done\n']);
});

test('the end of a cancelled job does not wait for room, and the log says what is missing if there is room for that', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const opened = openOnFullDisk(t);
  if (opened === undefined) return;
  const { log, texts, small } = opened;
  small.freePages(1);
  log.append('stdout', Buffer.from('first\n'));
  log.append('stdout', Buffer.alloc(10_000, 'x'));
  await log.closeWhenStored(AbortSignal.abort());
  assert.deepEqual(texts(), ['first\n', '\n[10.0 KB of output are missing, because the disk was full]\n']);
});
