import assert from 'node:assert/strict';
import { test } from 'node:test';
import { matchCells } from '../../../../src/workspace/notebooks/matchCells.ts';
import { mergeNotebooks, OLDER_OUTPUT } from '../../../../src/workspace/notebooks/mergeNotebooks.ts';
import { type Below, seeded } from '../../../random.ts';

interface Cell {
  readonly id?: string;
  readonly cell_type: 'code' | 'markdown';
  readonly source: string | readonly string[];
  readonly metadata: Record<string, unknown>;
  readonly outputs?: readonly unknown[];
  readonly execution_count?: number | null;
}

const stream = (text: string) => ({ output_type: 'stream', name: 'stdout', text });
const code = (source: string, more: Partial<Cell> = {}): Cell => ({
  cell_type: 'code',
  source,
  metadata: {},
  outputs: [],
  execution_count: null,
  ...more,
});
const ran = (source: string, output: string, more: Partial<Cell> = {}): Cell =>
  code(source, { outputs: [stream(output)], execution_count: 1, ...more });
const json = (cells: readonly Cell[], indent = 1): string =>
  `${JSON.stringify({ cells, metadata: {}, nbformat: 4, nbformat_minor: 5 }, undefined, indent)}\n`;
const textOf = ({ source }: Cell): string => [source].flat().join('');

function merged(local: readonly Cell[], executed: readonly Cell[]) {
  const result = mergeNotebooks(json(local), json(executed));
  assert.ok(result);
  const { cells } = JSON.parse(result.text) as { cells: Cell[] };
  return { ...result, cells };
}
const summary = (cells: readonly Cell[]) =>
  cells.map((cell) => [textOf(cell), (cell.outputs ?? []).map((each) => (each as { text: string }).text).join()]);

test('outputs come to the cells that made them; edited, added and removed cells stay so', () => {
  const executed = [ran('a', '1', { id: 'A' }), ran('b', '2', { id: 'B' }), ran('c', '3', { id: 'C' })];
  const local = [code('new', { id: 'N' }), code('b edited', { id: 'B' }), code('a', { id: 'A' })];
  const result = merged(local, executed);
  assert.deepEqual(summary(result.cells), [
    ['new', ''],
    ['b edited', '2'],
    ['a', '1'],
  ]);
  assert.deepEqual(
    result.cells.map(({ metadata }) => metadata[OLDER_OUTPUT]),
    [undefined, true, undefined],
  );
  assert.equal(result.olderOutputs, 1);
  const again = merged(result.cells, [ran('b edited', '4', { id: 'B' })]);
  assert.deepEqual(again.cells[1], ran('b edited', '4', { id: 'B' }), 'the mark leaves with the older output');
});

test('without IDs, cells are found by their source, and edited ones between them by their order', () => {
  const executed = [ran('a', '1'), ran('b', '2'), ran('a', '3'), ran('d', '4')];
  const local = [code('a'), code('b edited'), code('a'), code('x'), code('y')];
  assert.deepEqual(summary(merged(local, executed).cells), [
    ['a', '1'],
    ['b edited', '2'],
    ['a', '3'],
    ['x', ''],
    ['y', ''],
  ]);
});

test('a cell that did not run keeps its output, and text cells stay', () => {
  const local = [ran('a', 'old'), { cell_type: 'markdown', source: '# mine', metadata: {} } as const, ran('b', 'old')];
  const executed = [ran('a', 'new'), { cell_type: 'markdown', source: '# mine', metadata: {} } as const, code('b')];
  assert.deepEqual(summary(merged(local, executed).cells), [
    ['a', 'new'],
    ['# mine', ''],
    ['b', 'old'],
  ]);
});

test('the parameters of the run come with it, in place of those of an earlier one', () => {
  const injected = { metadata: { tags: ['injected-parameters'] } };
  const executed = [ran('p = 1', ''), ran('p = 2', '', injected), ran('p', '2')];
  const first = merged([code('p = 1'), code('p')], executed).cells;
  assert.deepEqual(first.map(textOf), ['p = 1', 'p = 2', 'p']);
  const second = merged(first, [ran('p = 1', ''), ran('p = 3', '', injected), ran('p', '3')]).cells;
  assert.deepEqual(second.map(textOf), ['p = 1', 'p = 3', 'p']);
  assert.deepEqual(merged([code('mine')], [ran('p = 9', '', injected), ran('x', '')]).cells.map(textOf), [
    'p = 9',
    'mine',
  ]);
});

test('the layout of the local file stays, and all of its fields', () => {
  const local = `\uFEFF${JSON.stringify({ nbformat: 4, mine: 1, cells: [{ ...code('a'), source: ['a'], x: { y: 1 } }] }, undefined, '\t')}`;
  const result = mergeNotebooks(local, json([ran('a', '1')]));
  assert.ok(result);
  assert.match(result.text, /^\{\n\t"nbformat": 4,\n\t"mine": 1,[^]*"source": \[\n\t\t\t\t"a"\n[^]*"x": \{[^]*[^\n]$/);
});

test('what is not a notebook of nbformat 4 is not merged', () => {
  const good = json([code('a')]);
  const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`;
  for (const bad of [
    '',
    '{"cells": 1',
    '[]',
    '{"nbformat": 3, "worksheets": [{"cells": []}]}',
    '{"nbformat": 4, "cells": {}}',
    '{"nbformat": 4, "cells": [1]}',
    '{"nbformat": 4, "cells": [{"source": [1]}]}',
    `{"nbformat": 4, "cells": ${deep}}`,
  ]) {
    assert.equal(mergeNotebooks(bad, good), undefined, bad.slice(0, 40));
    assert.equal(mergeNotebooks(good, bad), undefined, bad.slice(0, 40));
  }
  const odd = [{ ...code('a'), outputs: [null, 1, { output_type: 'evil' }, stream('ok')], execution_count: '7' }];
  const { cells } = merged([code('a')], odd as unknown as readonly Cell[]);
  assert.deepEqual([cells[0]?.outputs, cells[0]?.execution_count], [[stream('ok')], null]);
});

test('10,000 equal cells are matched at once', () => {
  const cells = Array.from({ length: 10_000 }, () => ({ isCode: true, source: '' }));
  assert.equal(matchCells(cells, cells).at(-1), 9_999);
});

test('whatever both sides do, no source of the user is lost, and no output comes to another cell', () => {
  for (let seed = 1; seed <= 500; seed += 1) {
    const random = seeded(seed);
    const hasIds = random(2) === 0;
    const submitted = Array.from({ length: random(8) }, (_, index) =>
      code(`s${random(5)}`, hasIds ? { id: `id${index}` } : {}),
    );
    const executed = submitted.map((cell, index) =>
      random(4) === 0 ? cell : { ...cell, outputs: [stream(`of ${index}`)], execution_count: index + 1 },
    );
    const local = edited(submitted, random, hasIds);
    const { cells, olderOutputs } = merged(local, executed);
    assert.deepEqual(cells.map(textOf), local.map(textOf), `seed ${seed}`);
    assert.equal(olderOutputs, cells.filter(({ metadata }) => metadata[OLDER_OUTPUT] === true).length);
    const seen = new Set<string>();
    for (const cell of cells) {
      for (const output of cell.outputs ?? []) {
        const { text } = output as { text: string };
        assert.ok(!seen.has(text), `seed ${seed}: an output came twice`);
        seen.add(text);
        const maker = submitted[Number(text.slice('of '.length))];
        assert.ok(maker);
        const isSame = textOf(maker) === textOf(cell);
        assert.equal(cell.metadata[OLDER_OUTPUT] === true, !isSame, `seed ${seed}`);
        if (hasIds && cell.id !== undefined && maker.id !== cell.id) assert.ok(isSame, `seed ${seed}`);
      }
    }
  }
});

function edited(cells: readonly Cell[], random: Below, hasIds: boolean): readonly Cell[] {
  const changed = [...cells];
  for (let count = random(6); count > 0; count -= 1) {
    const at = random(changed.length + 1);
    const cell = changed[at];
    const kind = random(4);
    if (kind === 0 || cell === undefined)
      changed.splice(at, 0, code(`added ${random(3)}`, hasIds ? { id: `new${random(1_000_000)}` } : {}));
    else if (kind === 1) changed.splice(at, 1);
    else if (kind === 2) changed[at] = { ...cell, source: `${textOf(cell)} edited` };
    else changed.splice(random(changed.length), 0, ...changed.splice(at, 1));
  }
  return changed;
}
