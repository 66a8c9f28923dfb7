import assert from 'node:assert/strict';
import { test } from 'node:test';
import { nameOfPiece } from '../../../../src/remote/protocol/contents.ts';
import { KnownLists } from '../../../../src/service/contents/knownLists.ts';
import type { KnownRun } from '../../../../src/workspace/extract/planTar.ts';

const START = { body: 0, padding: 0, emptyBlocks: 0 };
const list = (text: string): Buffer => nameOfPiece(Buffer.from(text));

function runOf(entries: number, name = 'a.txt'): KnownRun {
  const events = Array.from({ length: entries }, () => ({ name, type: 'file', size: 0, mode: 0o644 }) as const);
  return { events, end: START };
}

test('what a list contains is known to the account that sent it, and from the position at which it was read', () => {
  const lists = new KnownLists();
  const run = runOf(3);
  lists.add('ada', list('one'), START, run);
  assert.equal(lists.find('ada', list('one'), START), run);
  assert.equal(lists.find('bob', list('one'), START), undefined);
  assert.equal(lists.find('ada', list('two'), START), undefined);
  for (const other of [
    { ...START, body: 1 },
    { ...START, padding: 1 },
    { ...START, emptyBlocks: 1 },
  ]) {
    assert.equal(lists.find('ada', list('one'), other), undefined);
  }
});

test('few entries are kept in memory, those of the lists that were used last', () => {
  const lists = new KnownLists();
  const isKnown = (text: string): boolean => lists.find('ada', list(text), START) !== undefined;
  for (let index = 0; index < 9; index += 1) lists.add('ada', list(String(index)), START, runOf(20_000));
  assert.ok(isKnown('0'));
  for (let index = 9; index < 12; index += 1) lists.add('ada', list(String(index)), START, runOf(20_000));
  assert.ok(isKnown('0'));
  assert.ok(!isKnown('1'));
  assert.ok(isKnown('11'));
  lists.add('ada', list('long'), START, runOf(1_000, 'x'.repeat(50_000)));
  assert.ok(!isKnown('long'), 'its names are larger than what is kept');
});
