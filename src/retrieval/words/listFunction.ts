import {
  add,
  choose,
  I32,
  increase,
  isEqual,
  isLess,
  isZero,
  load,
  or,
  ProgramFunction,
  repeatWhile,
  set,
  shiftLeft,
  shiftRight,
  store,
  subtract,
} from './webAssembly.ts';
import { behindRecord } from './findFunctions.ts';
import { FIRST, MAX_WORD, SECOND } from './wordRecord.ts';

// The whole of a word and its letters. What has more are the pairs of another script, which are given once each; looking for each
// among all of them would take a minute for a book without a blank.
const MOST_TERMS = MAX_WORD + 1;

/**
 * list(record, recordsEnd, found, terms, lists, end): lists the numbers of the terms of words behind those before, each once for a
 * word, and gives the new end. `found` are the records of the terms, distances from `terms`, of each word as many as its second number
 * says; this becomes how many were listed, and its first number where they begin.
 */
export function listFunction(): ProgramFunction {
  const f = new ProgramFunction('list');
  const { record, recordsEnd, found } = f.parameters('record', 'recordsEnd', 'found');
  const { terms, lists, end } = f.parameters('terms', 'lists', 'end');
  const { first, foundEnd, term, at, isListed } = f.locals(I32, 'first', 'foundEnd', 'term', 'at', 'isListed');
  return f.is(
    [
      repeatWhile(
        isLess(record, recordsEnd),
        set(first, end),
        set(foundEnd, add(found, shiftLeft(load(record, SECOND), 2))),
        repeatWhile(
          isLess(found, foundEnd),
          set(term, load(add(terms, load(found)), FIRST)),
          set(isListed, 0),
          set(at, choose(isLess(load(record, SECOND), MOST_TERMS + 1), first, end)),
          repeatWhile(isLess(at, end), set(isListed, or(isListed, isEqual(load(at), term))), increase(at, 4)),
          store(end, term),
          increase(end, shiftLeft(isZero(isListed), 2)),
          increase(found, 4),
        ),
        store(record, subtract(first, lists), FIRST),
        store(record, shiftRight(subtract(end, first), 2), SECOND),
        set(record, behindRecord(record)),
      ),
    ],
    end,
  );
}
