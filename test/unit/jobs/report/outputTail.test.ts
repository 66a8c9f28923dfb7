import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LastOutput } from '../../../../src/jobs/report/jobPage.ts';

const AT = { seq: 1, at: '2026-01-01T00:00:00.000Z' };

function tailOf(...texts: readonly string[]): readonly string[] {
  const tail = new LastOutput();
  for (const text of texts) tail.push({ ...AT, event: 'log', data: { stream: 'stdout', text } });
  return tail.lines;
}

test('the last ten lines that are not blank are kept, each of at most 300 characters', () => {
  const lines = Array.from({ length: 12 }, (_, index) => `line ${index}`);
  assert.deepEqual(tailOf(`${lines.join('\n')}\n`), lines.slice(2));
  assert.deepEqual(tailOf('a\r\n\n  \nb', 'c\n'), ['a', 'bc']);
  assert.deepEqual(tailOf(`${'x'.repeat(301)}\n`), ['x'.repeat(300)]);
  assert.deepEqual(tailOf(), []);
  assert.deepEqual(tailOf('\u001b[31mred\u001b[0m\n'), ['red']);
});

test('of a progress bar that is redrawn, the last state is a line', () => {
  assert.deepEqual(tailOf('start\n', ' 10 %\r', ' 20 %\r', ' 30 %\r'), ['start', ' 30 %']);
  assert.deepEqual(tailOf('10 %\r20 %\nend\n'), ['20 %', 'end']);
});

test('a long output takes bounded memory, and the notes of Farwharf and data for the page are no output', () => {
  const tail = new LastOutput();
  const log = (text: string, more: object = {}): void =>
    tail.push({ ...AT, event: 'log', data: { stream: 'stdout', text }, ...more });
  log(`first\n${'y'.repeat(20_000)}`);
  log('\nlast\n');
  assert.deepEqual(tail.lines, ['y'.repeat(300), 'last']);
  log('a note\n', { own: true });
  log('farwharf:metric {"loss": 1}\n');
  tail.push({ ...AT, event: 'state', data: { state: 'running' } });
  assert.deepEqual(tail.lines, ['y'.repeat(300), 'last']);
});
