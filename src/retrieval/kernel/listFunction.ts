import { ProgramFunction } from './assembler/programModule.ts';
import {
  add,
  I32,
  increase,
  isEqual,
  isLess,
  isZero,
  load,
  repeatWhile,
  set,
  shiftLeft,
  shiftRight,
  store,
  subtract,
} from './assembler/webAssembly.ts';
import { behindRecord } from './findFunctions.ts';
import { FIRST, SECOND } from './kernelLayout.ts';

/**
 * list(record, recordsEnd, found, terms, lists, end): lists the numbers of the terms of words behind those before, each once for a
 * word, and gives the new end. `found` are the records of the terms, distances from `terms`, of each word as many as its second number
 * says; this becomes how many were listed, and its first number where they begin. A term's second number tells the word that it was
 * listed for last.
 */
export function listFunction(): ProgramFunction {
  const f = new ProgramFunction('list');
  const { record, recordsEnd, found } = f.parameters('record', 'recordsEnd', 'found');
  const { terms, lists, end } = f.parameters('terms', 'lists', 'end');
  const { first, foundEnd, term, mark, isListed } = f.locals(I32, 'first', 'foundEnd', 'term', 'mark', 'isListed');
  return f.is(
    [
      repeatWhile(
        isLess(record, recordsEnd),
        set(first, end),
        set(mark, add(subtract(first, lists), 1)),
        set(foundEnd, add(found, shiftLeft(load(record, SECOND), 2))),
        repeatWhile(
          isLess(found, foundEnd),
          set(term, add(terms, load(found))),
          set(isListed, isEqual(load(term, SECOND), mark)),
          store(term, mark, SECOND),
          store(end, load(term, FIRST)),
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
