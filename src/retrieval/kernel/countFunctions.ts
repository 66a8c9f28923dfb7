import { ProgramFunction } from './assembler/programModule.ts';
import {
  add,
  I32,
  increase,
  isLess,
  isNotZero,
  isZero,
  least,
  load,
  load16,
  repeatWhile,
  set,
  shiftLeft,
  store,
  store16,
} from './assembler/webAssembly.ts';
import { COUNT, FIRST, LENGTH_AT, SECOND } from './kernelLayout.ts';

const MAX_FREQUENCY = 0xffff;

/**
 * count(found, end, records, weight, counted): adds a weight to the count of each word. Notes those that had none, and gives the end
 * of that.
 */
export function countFunction(): ProgramFunction {
  const f = new ProgramFunction('count');
  const { found, end, records, weight, counted } = f.parameters('found', 'end', 'records', 'weight', 'counted');
  const { record, word, times, length } = f.locals(I32, 'record', 'word', 'times', 'length');
  return f.is(
    [
      repeatWhile(
        isLess(found, end),
        set(record, load(found)),
        set(word, add(records, record)),
        set(times, load(word, COUNT)),
        // Noted again and again until it is counted: whether it is new cannot be foreseen, and guessing costs the processor more.
        store(counted, record),
        increase(counted, shiftLeft(isZero(times), 2)),
        store(word, add(times, weight), COUNT),
        increase(length, isNotZero(load(word, SECOND))),
        increase(found, 4),
      ),
      store(0, length, LENGTH_AT),
    ],
    counted,
  );
}

/**
 * gather(counted, end, records, lists, counts, present): adds up in `counts` how often the words that were counted give each term, and
 * writes the terms that they give; gives the end of these. The words have no counts then.
 */
export function gatherFunction(): ProgramFunction {
  const f = new ProgramFunction('gather');
  const { counted, end, records } = f.parameters('counted', 'end', 'records');
  const { lists, counts, present } = f.parameters('lists', 'counts', 'present');
  const { word, at, listEnd, times } = f.locals(I32, 'word', 'at', 'listEnd', 'times');
  const { term, place, before } = f.locals(I32, 'term', 'place', 'before');
  return f.is(
    [
      repeatWhile(
        isLess(counted, end),
        set(word, add(records, load(counted))),
        set(at, add(lists, load(word, FIRST))),
        set(listEnd, add(at, shiftLeft(load(word, SECOND), 2))),
        set(times, load(word, COUNT)),
        store(word, 0, COUNT),
        repeatWhile(
          isLess(at, listEnd),
          set(term, load(at)),
          set(place, add(counts, shiftLeft(term, 2))),
          set(before, load(place)),
          store(present, term),
          increase(present, shiftLeft(isZero(before), 2)),
          store(place, add(before, times)),
          increase(at, 4),
        ),
        increase(counted, 4),
      ),
    ],
    present,
  );
}

/**
 * note(present, end, counts, holders, terms, frequencies): writes the terms that are present and how often, adds one to the holders of
 * each, and forgets the counts.
 */
export function noteFunction(): ProgramFunction {
  const f = new ProgramFunction('note');
  const { present, end, counts } = f.parameters('present', 'end', 'counts');
  const { holders, terms, frequencies } = f.parameters('holders', 'terms', 'frequencies');
  const { term, place, times } = f.locals(I32, 'term', 'place', 'times');
  return f.is([
    repeatWhile(
      isLess(present, end),
      set(term, load(present)),
      store(terms, term),
      set(place, add(counts, shiftLeft(term, 2))),
      set(times, load(place)),
      store(place, 0),
      store16(frequencies, least(times, MAX_FREQUENCY)),
      set(place, add(holders, shiftLeft(term, 2))),
      store(place, add(load(place), 1)),
      increase(present, 4),
      increase(terms, 4),
      increase(frequencies, 2),
    ),
  ]);
}

/**
 * scatter(terms, frequencies, sizes, end, document, next, documents, counts): goes over the terms of documents, of which each has as
 * many as its size says, and puts the number of the document and the frequency where the next of the term goes.
 */
export function scatterFunction(): ProgramFunction {
  const f = new ProgramFunction('scatter');
  const { terms, frequencies, sizes, end } = f.parameters('terms', 'frequencies', 'sizes', 'end');
  const { document, next, documents, counts } = f.parameters('document', 'next', 'documents', 'counts');
  const { termsEnd, place, to } = f.locals(I32, 'termsEnd', 'place', 'to');
  return f.is([
    repeatWhile(
      isLess(sizes, end),
      set(termsEnd, add(terms, shiftLeft(load(sizes), 2))),
      repeatWhile(
        isLess(terms, termsEnd),
        set(place, add(next, shiftLeft(load(terms), 2))),
        set(to, load(place)),
        store(place, add(to, 1)),
        store(add(documents, shiftLeft(to, 2)), document),
        store16(add(counts, shiftLeft(to, 1)), load16(frequencies)),
        increase(terms, 4),
        increase(frequencies, 2),
      ),
      increase(document, 1),
      increase(sizes, 4),
    ),
  ]);
}
