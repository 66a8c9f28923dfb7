import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MetricLines } from '../../../../src/jobs/metrics/metricLines.ts';

function read(...texts: readonly string[]): MetricLines {
  const lines = new MetricLines();
  for (const text of texts) lines.push({ event: 'log', data: { stream: 'stdout', text } });
  return lines;
}

const pointsOf = (lines: MetricLines): object =>
  Object.fromEntries([...lines.series].map(([name, { points }]) => [name, points]));

test('the numbers of marked lines become series by their names, at their step or their own number', () => {
  const lines = read(
    'epoch 1\nfarwharf:metric {"loss": 0.5, "step": 10, "note": "text", "on": true}\n',
    'farwharf:metric {"loss": 0.25, "step": 20, "lr": 1e-3}\r\nfarwharf:metric {"lr": 2e-3}\r',
    'said farwharf:metric {"loss": 9}\nfarwharf:metrics {"loss": 9}\nfarwharf:metric [1]\nfarwharf:metric {"loss": 9\n',
  );
  assert.deepEqual(pointsOf(lines), {
    loss: [
      [10, 0.5],
      [20, 0.25],
    ],
    lr: [
      [20, 0.001],
      [2, 0.002],
    ],
  });
});

test('a line that is split anywhere is read once, and lines of two streams do not mix', () => {
  const text = 'farwharf:metric {"loss": 1, "step": 3}\n';
  for (let at = 0; at <= text.length; at += 1) {
    const lines = new MetricLines();
    lines.push({ event: 'log', data: { stream: 'stdout', text: text.slice(0, at) } });
    lines.push({ event: 'log', data: { stream: 'stderr', text: 'trouble\n' } });
    lines.push({ event: 'state', data: { state: 'running' } });
    lines.push({ event: 'log', data: { stream: 'stdout', text: text.slice(at) } });
    assert.deepEqual(pointsOf(lines), { loss: [[3, 1]] });
  }
});

test('values that Python writes for what is no number are values', () => {
  const lines = read('farwharf:metric {"a": NaN, "b": Infinity, "c": -Infinity, "d": "NaN, NaN", "step": NaN}\n');
  const last = [...lines.series].map(([name, series]) => [name, series.last]);
  assert.deepEqual(last, [
    ['a', NaN],
    ['b', Infinity],
    ['c', -Infinity],
  ]);
});

test('a value whose step is no number is at its own number', () => {
  const lines = read(
    'farwharf:metric {"loss": 3, "step": NaN}\n',
    'farwharf:metric {"loss": 2, "step": Infinity}\nfarwharf:metric {"loss": 1, "step": "5"}\n',
  );
  assert.deepEqual(pointsOf(lines), {
    loss: [
      [1, 3],
      [2, 2],
      [3, 1],
    ],
  });
});

test('a job that prints without end takes a bounded memory', () => {
  const lines = read(
    'x'.repeat(1_000_000),
    `farwharf:metric {"loss": 1}\n`,
    `farwharf:metric ${' '.repeat(20_000)}{"loss": 1}\n`,
  );
  assert.equal(lines.series.size, 0, 'this was the end of a line, and then one that is too long');
  for (let index = 0; index < 1_500; index += 1) {
    lines.push({ event: 'log', data: { text: `farwharf:metric {"name ${index}": 1}\n` } });
  }
  assert.equal(lines.series.size, 1_000);
  const many = Object.fromEntries(Array.from({ length: 1_000 }, (_, index) => [`n${index}`, index]));
  assert.equal(read(`farwharf:metric ${JSON.stringify(many)}\n`).series.get('n999')?.last, 999);
});

test('names are shortened and cannot move a terminal, and none is one of an object', () => {
  const lines = read(`farwharf:metric {"__proto__": 1, "a\\u001b[2J\\nb": 2, "${'n'.repeat(500)}": 3, "": 4}\n`);
  assert.deepEqual([...lines.series.keys()], ['__proto__', 'a b', 'n'.repeat(100)]);
});
