import assert from 'node:assert/strict';
import { test } from 'node:test';
import { listNames } from '../../../../src/jobs/contents/archiveContents.ts';
import { NAME_BYTES, nameOfPiece } from '../../../../src/remote/protocol/contents.ts';

const namesOf = (lists: ReturnType<typeof listNames>): string[] => lists.map(({ name }) => name.toString('hex'));

test('a new piece changes the list that it is in, and no other', () => {
  const names = Array.from({ length: 2_000 }, (_, index) => nameOfPiece(Buffer.from(String(index))));
  const before = listNames(names);
  assert.ok(before.length > 5, `${before.length} lists`);
  assert.deepEqual(Buffer.concat(before.map((list) => list.names)), Buffer.concat(names));
  const inserted = Buffer.alloc(NAME_BYTES, 1); // not the end of a list
  const after = listNames(names.toSpliced(1_000, 0, inserted));
  assert.equal(new Set(namesOf(after)).difference(new Set(namesOf(before))).size, 1);
});

test('a list has at most 1,024 names', () => {
  const names = Array.from({ length: 2_500 }, () => Buffer.alloc(NAME_BYTES, 1));
  assert.deepEqual(
    listNames(names).map((list) => list.names.length / NAME_BYTES),
    [1_024, 1_024, 452],
  );
});
