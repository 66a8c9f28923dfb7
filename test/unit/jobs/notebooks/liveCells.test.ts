import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LiveCells, sourceHashOf } from '../../../../src/jobs/notebooks/liveCells.ts';

const print = (text: string) => ({ event: 'log', data: { stream: 'stdout', text } });
const line = (value: unknown) => print(`farwharf:cell ${JSON.stringify(value)}\n`);
const begin = (...sources: string[]) => line({ cells: sources.map((source) => [null, sourceHashOf(source)]) });
const PNG = Buffer.from('picture').toString('base64');
const stream = (text: string) => ({ output_type: 'stream', name: 'stdout', text });
const report = (cell: number, state: string, ...outputs: unknown[]) => line({ cell, state, count: 1, outputs });
const summary = (cells: LiveCells) => cells.all.map(({ state, outputs }) => [state, outputs]);

test('cells are queued, run and end, with what they show', () => {
  const cells = new LiveCells();
  assert.equal(cells.push(print('cell 1 of 2\n')), false);
  assert.equal(cells.push(begin('a', 'b')), true);
  assert.deepEqual(cells.all[0]?.identity, { isCode: true, source: sourceHashOf('a') });
  cells.push(report(1, 'running', stream('one')));
  const picture = { output_type: 'display_data', data: { 'image/png': PNG, 'text/plain': '<Figure>' } };
  cells.push(report(1, 'running', stream('one'), picture));
  assert.deepEqual(summary(cells), [
    ['running', [stream('one'), picture]],
    ['queued', undefined],
  ]);
  cells.push(report(1, 'done', picture));
  cells.push({ event: 'end', data: { state: 'cancelled' } });
  assert.deepEqual(summary(cells), [
    ['done', [picture]],
    ['stopped', undefined],
  ]);
  cells.push(begin('a'));
  assert.deepEqual(summary(cells), [['queued', undefined]], 'another attempt');
});

test('a line may come in pieces, and after other text', () => {
  const cells = new LiveCells();
  const { text } = begin('a').data;
  for (const piece of ['before\n', ...text.split('')]) cells.push(print(piece));
  assert.equal(cells.all.length, 1);
});

test('what a job prints beyond the protocol is ignored, and nothing that could run is kept', () => {
  const cells = new LiveCells();
  cells.push(report(1, 'running', stream('before the beginning')));
  cells.push(begin('a'));
  const evil = { 'text/html': '<script>', 'application/javascript': 'x', 'image/svg+xml': '<svg onload=x>' };
  for (const bad of [
    1,
    { cells: [[1, 2]] },
    { cells: Array.from({ length: 2_001 }, () => [null, sourceHashOf('a')]) },
    { cell: 2, state: 'done', count: 1, outputs: [] },
    { cell: 0, state: 'done', count: 1, outputs: [] },
    { cell: 1.5, state: 'done', count: 1, outputs: [] },
    { cell: 1, state: 'evil', count: 1, outputs: [] },
    { cell: 1, state: 'done', count: 1, outputs: [{ output_type: 'evil' }] },
    { cell: 1, state: 'done', count: 1, outputs: Array.from({ length: 51 }, () => stream('x')) },
    { cell: 1, state: 'done', count: 1, outputs: [{ output_type: 'display_data', data: { 'image/png': '<svg>' } }] },
    { cell: 1, state: 'done', count: 1, outputs: [stream('x'.repeat(1_000_000))] },
  ])
    assert.equal(cells.push(line(bad)), false, JSON.stringify(bad).slice(0, 80));
  cells.push(report(1, 'done', { output_type: 'display_data', data: { ...evil, 'text/plain': 'x'.repeat(100_000) } }));
  assert.deepEqual(cells.all[0]?.outputs, [
    { output_type: 'display_data', data: { 'text/plain': 'x'.repeat(64_000) } },
  ]);
});

test('the outputs of all cells are bounded', () => {
  const cells = new LiveCells();
  cells.push(begin(...Array.from({ length: 60 }, (_, index) => String(index))));
  const large = { output_type: 'display_data', data: { 'image/png': 'AAAA'.repeat(240_000) } };
  for (let cell = 1; cell <= 60; cell += 1) cells.push(report(cell, 'done', large));
  const kept = cells.all.filter(({ outputs }) => outputs !== undefined).length;
  assert.ok(kept > 40 && kept < 55, String(kept));
  assert.ok(cells.all.every(({ state }) => state === 'done'));
});
