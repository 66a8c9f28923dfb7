import assert from 'node:assert/strict';
import { appendFile, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, suite, test } from 'node:test';
import {
  Counts,
  followReport,
  formatCounts,
  PartReports,
  parseCounts,
  printEvent,
  summary,
} from '../../../../scripts/testing/report.ts';
import type { TestEvent } from '../../../host/support/events.ts';

suite('the report of a run inside VS Code', () => {
  let folder: string;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'farwharf-report-'));
  });
  after(() => rm(folder, { recursive: true }));

  const passed = (title: string): string =>
    `${JSON.stringify({ type: 'pass', file: 'x.test.ts', title, durationMs: 1 })}\n`;

  test('is read while it grows, a half-written line when it is whole, and ends with its last event', async () => {
    const path = join(folder, 'growing.jsonl');
    const [half, rest] = [passed('second').slice(0, 10), passed('second').slice(10)];
    await appendFile(path, passed('first') + half);
    const events: TestEvent[] = [];
    for await (const event of followReport(path, new AbortController().signal)) {
      events.push(event);
      if (events.length === 1) await appendFile(path, `${rest}{"type":"done"}\n`);
    }
    assert.deepEqual(
      events.map((event) => ('title' in event ? event.title : event.type)),
      ['first', 'second', 'done'],
    );
  });

  test('of a run that was cut short ends with what there is', async () => {
    const path = join(folder, 'short.jsonl');
    await appendFile(path, passed('only'));
    const events = await Array.fromAsync(followReport(path, AbortSignal.abort()));
    assert.deepEqual(
      events.map(({ type }) => type),
      ['pass'],
    );
  });

  test('of a run that never began is empty', async () => {
    assert.deepEqual(await Array.fromAsync(followReport(join(folder, 'missing.jsonl'), AbortSignal.abort())), []);
  });

  test('counts each outcome, and prints a failure with its reason, and once more at the end', () => {
    const counts = new Counts();
    const events: TestEvent[] = [
      { type: 'pass', file: 'x.test.ts', title: 'a', durationMs: 1 },
      { type: 'fail', file: 'x.test.ts', title: 'b', error: 'because' },
      { type: 'fail', file: 'y.test.ts', title: '', error: 'not loaded' },
      { type: 'skip', file: 'x.test.ts', title: 'c' },
      { type: 'note', text: 'printed\n' },
      { type: 'done' },
    ];
    const printed: string[] = [];
    for (const event of events) printEvent(event, { counts, print: (text) => printed.push(text) });
    const failures = /FAILED {2}x\.test\.ts: b\n\s+because\n[^]*FAILED {2}y\.test\.ts\n\s+not loaded\n/;
    assert.match(printed.join(''), failures);
    assert.match(printed.join(''), /^ +printed$/m);
    const lines = summary(counts).split('\n');
    assert.equal(lines.at(-1), '1 passed, 2 failed, 1 skipped');
    assert.match(lines.join('\n'), failures);
  });

  test('is read back from its last line', () => {
    const all = { passed: 12, failed: 1, skipped: 3, known: 2, failures: [] };
    const none = { passed: 7, failed: 0, skipped: 0, known: 0, failures: [] };
    assert.deepEqual(parseCounts(`1 passed, 0 failed\nmore\n${formatCounts(all)}\n`), all);
    assert.deepEqual(parseCounts(formatCounts(none)), none);
    assert.equal(parseCounts('nothing passed'), undefined);
  });

  test('of a run without failures is one line', () => {
    const counts = new Counts();
    printEvent({ type: 'pass', file: 'x.test.ts', title: 'a', durationMs: 1 }, { counts, print: () => {} });
    assert.equal(summary(counts), '1 passed, 0 failed');
  });

  test('of parts that run side by side has each line below the title of its part', () => {
    let printed = '';
    const reports = new PartReports((text) => (printed += text));
    const [windows, suites] = [reports.start('Windows'), reports.start('Suites')];
    const ends = [windows, windows, suites, windows];
    for (const [index, part] of ends.entries())
      printEvent({ type: 'pass', file: 'x.test.ts', title: `test ${index}`, durationMs: 0 }, part);
    const lines = printed.match(/Windows|Suites|test \d/g)?.join(' ');
    assert.equal(lines, 'Windows test 0 test 1 Suites test 2 Windows test 3');
    const all = new Counts();
    for (const { counts } of [windows, suites]) all.add(counts);
    assert.equal(summary(all), '4 passed, 0 failed');
  });
});
