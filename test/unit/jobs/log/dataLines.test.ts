import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DataLines, ReadableOutput } from '../../../../src/jobs/log/dataLines.ts';
import { LastLine } from '../../../../src/jobs/log/jobPatch.ts';

const METRIC = 'farwharf:metric {"loss": 0.5}\n';
const PICTURE = `farwharf:picture {"name": "a.png", "data": "${'A'.repeat(5_000)}"}\r\n`;

test('data for the page of a job is not in its readable output, wherever the text is cut', () => {
  const text = `farwharf\n${METRIC}${PICTURE}fine\nfar${METRIC}${METRIC}end far`;
  for (const size of [1, 7, 1_000, 100_000]) {
    const output = new ReadableOutput();
    let readable = '';
    for (let at = 0; at < text.length; at += size) readable += output.push({}, text.slice(at, at + size));
    readable += output.end();
    assert.equal(readable, `farwharf\nfine\nfar${METRIC}end far`);
  }
});

test('text for a file or a program keeps the data', () => {
  const text = `${METRIC}${PICTURE}fine\n`;
  assert.equal(new ReadableOutput({ keepsData: true }).push({}, text), text);
});

test('a line that is not data after all stays readable', () => {
  const misprinted = 'farwharf:metric {\'loss\': 0.5}\nfarwharf:picture [1]\nfarwharf:metrics {"loss": 1}\n';
  assert.equal(new ReadableOutput().push({}, misprinted), misprinted);
});

test('each stream has lines of its own, and an instance knows when another one could not continue', () => {
  const output = new ReadableOutput();
  assert.equal(output.push({ stream: 'stdout' }, 'farwharf:metric {"lo'), '');
  assert.equal(output.isHolding, true);
  assert.equal(output.push({ stream: 'stderr' }, 'warning\n'), 'warning\n');
  assert.equal(output.push({ stream: 'stdout' }, 'ss": 1}\n'), '');
  assert.equal(output.isHolding, false);
});

test('a job with a progress bar that also prints metrics keeps its bar as its last line', () => {
  const last = new LastLine();
  last.push({ stream: 'stderr' }, '\r50%|###...| 5/10');
  last.push({ stream: 'stdout' }, METRIC + PICTURE);
  assert.equal(last.text, '50%|###...| 5/10');
});

test('the last line of a script that threw is the reason, not the calls below it', () => {
  const last = new LastLine();
  const trace = [
    'weights.reduce(add)',
    "TypeError: Cannot read properties of null (reading 'reduce')",
    '    at score (file:///jobs/1/src/model.mjs:4:18)',
    '    at async asyncRunEntryPointWithESMLoader (node:internal/modules/run_main:101:5)',
    '    at Array.map (<anonymous>)',
    '    at org.example.Main.main(Main.java:7)',
    '',
    'Node.js v24.21.0',
  ];
  last.push({ stream: 'stderr' }, `${trace.join('\n')}\n`);
  assert.equal(last.text, trace[1]);
});

test('a line like a call that never ends is read in a time that grows with its length', () => {
  const last = new LastLine();
  last.push({ stream: 'stderr' }, ` at x${':'.repeat(2_000_000)} \n`); // hours if it were compared with each of its ends
  assert.match(last.text ?? '', /^at x:{290}/);
});

test('the data of lines is read by its type, whole, and up to a length', () => {
  const read = (lines: DataLines, ...texts: readonly string[]): string[] =>
    texts.flatMap((text) => lines.push({ event: 'log', data: { text } }));
  const metrics = new DataLines('metric', 40);
  assert.deepEqual(
    read(metrics, 'x\nfarwharf:metric {"a": 1}\rfarwharf:metric 2\r\nfarwharf:picture 3\n farwharf:metric 4\n'),
    ['{"a": 1}', '2'],
  );
  const longest = `farwharf:metric ${'x'.repeat(24)}`;
  assert.deepEqual(read(metrics, `${longest}\n${longest}y\n`), ['x'.repeat(24)]);
  assert.deepEqual(read(metrics, longest, '\n', longest, 'y', 'y\n', 'farwharf:', 'metric 5', '\n'), [
    'x'.repeat(24),
    '5',
  ]);
  assert.deepEqual(read(metrics, `${'z'.repeat(100)}farwharf:metric`, ' 6\n'), [], 'not at the start of a line');
  assert.deepEqual(metrics.push({ event: 'state', data: { text: 'farwharf:metric 7\n' } }), []);
  assert.deepEqual(metrics.push({ event: 'log', data: { stream: 'stderr', text: 'farwharf:metric 8\n' } }), ['8']);
  assert.deepEqual(read(new DataLines('picture', 40), 'farwharf:picture {}\nfarwharf:metric {}\n'), ['{}']);
});

test('text that begins like data is held back only until it is known, and comes at the end', () => {
  const output = new ReadableOutput();
  assert.deepEqual([output.push({}, 'far'), output.isHolding], ['', true]);
  assert.deepEqual([output.push({}, 'm\nf'), output.isHolding], ['farm\n', true]);
  assert.deepEqual([output.push({}, 'ine'), output.isHolding], ['fine', false]);
  assert.deepEqual(
    [output.push({}, ' farwharf:metric {"a'), output.isHolding],
    [' farwharf:metric {"a', false],
    'inside a line',
  );
  assert.deepEqual([output.push({}, '\nfarwharf:metric {'), output.isHolding], ['\n', true]);
  assert.deepEqual([output.end(), output.isHolding, output.end()], ['farwharf:metric {', false, '']);
  const both = new ReadableOutput();
  both.push({ stream: 'stdout' }, 'fa');
  assert.equal(both.push({ stream: 'stderr' }, 'fb\n'), 'fb\n');
  both.push({ stream: 'stderr' }, 'far');
  assert.equal(both.end(), 'fafar');
});

test('what the service says about the results of a job is not the last line of its output', () => {
  const last = new LastLine();
  last.push({ stream: 'stderr' }, 'ValueError: no\n');
  last.push({ stream: 'stderr', about: 'results' }, 'farwharf: Links are not returned: l.\n');
  assert.equal(last.text, 'ValueError: no');
  last.push({ stream: 'stderr' }, 'farwharf: Links, special files, and so on\n');
  assert.equal(last.text, 'farwharf: Links, special files, and so on', 'a job may print what it likes');
});
