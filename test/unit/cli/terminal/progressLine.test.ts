import assert from 'node:assert/strict';
import { test } from 'node:test';
import { progressText, Progress } from '../../../../src/cli/terminal/progressLine.ts';
import { Terminal } from '../../../../src/cli/terminal/terminal.ts';

test('a bar shows the part that is done, the rate and the time left', () => {
  const line = progressText('uploading', { doneBytes: 12e6, totalBytes: 30e6, elapsedMs: 4_000 });
  assert.equal(line, 'uploading ██████████░░░░░░░░░░░░░░  40 %  12.0 MB of 30.0 MB  3.0 MB/s  6.0 s left');
});

test('before the rate is steady, and at the end, no time left is claimed', () => {
  const early = progressText('packing', { doneBytes: 1e6, totalBytes: 2e6, elapsedMs: 100 });
  assert.equal(early, 'packing ████████████░░░░░░░░░░░░  50 %  1.0 MB of 2.0 MB');
  const late = progressText('packing', { doneBytes: 2e6, totalBytes: 2e6, elapsedMs: 1_000 });
  assert.match(late, /█{24} 100 % .* 2\.0 MB\/s$/);
});

test('a narrow terminal gets the numbers without a bar', () => {
  const work = { doneBytes: 12e6, totalBytes: 30e6, elapsedMs: 100, columns: 40 };
  assert.equal(progressText('uploading', work), 'uploading  40 %  12.0 MB of 30.0 MB');
});

test('in a terminal of 80 columns the bar is shorter, of one length, and nothing is cut off', () => {
  const totalBytes = 2e6;
  const lengths = new Set<number>();
  for (let doneBytes = 1_000; doneBytes <= totalBytes; doneBytes += 997) {
    const line = progressText('downloading', { doneBytes, totalBytes, elapsedMs: doneBytes / 20, columns: 80 });
    assert.ok(line.length <= 80, line);
    lengths.add(/[█░]+/.exec(line)?.[0].length ?? 0);
  }
  assert.deepEqual([...lengths], [18]);
});

test('where the total is not known there is no bar', () => {
  const line = progressText('downloading', { doneBytes: 2e6, totalBytes: undefined, elapsedMs: 1_000 });
  assert.equal(line, 'downloading 2.0 MB  2.0 MB/s');
});

test('the line is drawn ten times a second at most', () => {
  const drawn: string[] = [];
  const stderr = { isTTY: true, columns: 200, write: (text: string) => drawn.push(text) };
  const terminal = new Terminal({ isJson: false, stdout: { write: () => {} }, stderr, env: {} });
  let now = 0;
  const progress = new Progress(terminal, 'packing', () => now);
  for (; now < 1_000; now += 10) progress.update(now, 1_000);
  assert.equal(drawn.length, 10);
  assert.equal(progress.seconds, 1);
});
