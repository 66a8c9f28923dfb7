import { COUNT, FIRST, LENGTH_AT, SECOND } from './kernelLayout.ts';
import { endOfRecord } from './intern.ts';

const MAX_FREQUENCY = 0xffff;

/**
 * Appends the numbers of the terms of words at `listsEnd`, each once per word, and returns the new end. `found` has the records of the
 * terms as offsets from `terms`; a word's second number is how many it has. That number becomes how many were listed, and the word's
 * first number where they begin. A term's second number is the last word for which it was listed.
 */
export function listTerms(
  record: usize,
  recordsEnd: usize,
  found: usize,
  terms: usize,
  lists: usize,
  listsEnd: usize,
): usize {
  while (record < recordsEnd) {
    const first = listsEnd;
    const mark = first - lists + 1;
    for (const foundEnd = found + 4 * load<u32>(record, SECOND); found < foundEnd; found += 4) {
      const term = terms + load<u32>(found);
      const isListed = load<u32>(term, SECOND) == mark;
      store<u32>(term, mark, SECOND);
      store<u32>(listsEnd, load<u32>(term, FIRST));
      listsEnd += 4 * usize(!isListed);
    }
    store<u32>(record, first - lists, FIRST);
    store<u32>(record, (listsEnd - first) >> 2, SECOND);
    record = endOfRecord(record);
  }
  return listsEnd;
}

/** Adds a weight to the count of each word, writes the records of those whose count was 0, and returns the end of these. */
export function countWords(found: usize, foundEnd: usize, records: usize, weight: u32, counted: usize): usize {
  let length: u32 = 0;
  for (; found < foundEnd; found += 4) {
    const record = load<u32>(found);
    const word = records + record;
    const count = load<u32>(word, COUNT);
    // Written for every word, but kept only if the word is new, because mispredicting a branch costs more than the write.
    store<u32>(counted, record);
    counted += 4 * usize(count == 0);
    store<u32>(word, count + weight, COUNT);
    length += u32(load<u32>(word, SECOND) != 0);
  }
  store<u32>(0, length, LENGTH_AT);
  return counted;
}

/**
 * Adds the counts of the counted words to `counts` by term, writes these terms, and returns their end. The counts of the words are
 * reset.
 */
export function gatherTerms(
  counted: usize,
  countedEnd: usize,
  records: usize,
  lists: usize,
  counts: usize,
  present: usize,
): usize {
  for (; counted < countedEnd; counted += 4) {
    const word = records + load<u32>(counted);
    const count = load<u32>(word, COUNT);
    store<u32>(word, 0, COUNT);
    const list = lists + load<u32>(word, FIRST);
    const listEnd = list + 4 * load<u32>(word, SECOND);
    for (let at = list; at < listEnd; at += 4) {
      const term = load<u32>(at);
      const place = counts + 4 * term;
      const before = load<u32>(place);
      store<u32>(present, term);
      present += 4 * usize(before == 0);
      store<u32>(place, before + count);
    }
  }
  return present;
}

/** Writes the terms that are present with their frequencies, adds 1 to the document frequency of each, and clears the counts. */
export function noteTerms(
  present: usize,
  presentEnd: usize,
  counts: usize,
  holders: usize,
  terms: usize,
  frequencies: usize,
): void {
  for (; present < presentEnd; present += 4) {
    const term = load<u32>(present);
    store<u32>(terms, term);
    const count = load<u32>(counts + 4 * term);
    store<u32>(counts + 4 * term, 0);
    store<u16>(frequencies, min<u32>(count, MAX_FREQUENCY));
    store<u32>(holders + 4 * term, load<u32>(holders + 4 * term) + 1);
    terms += 4;
    frequencies += 2;
  }
}

/**
 * Inverts the terms of documents: writes the number of the document and the frequency at the next posting of each term. `sizes` has the
 * number of terms of each document.
 */
export function scatterPostings(
  terms: usize,
  frequencies: usize,
  sizes: usize,
  sizesEnd: usize,
  document: u32,
  next: usize,
  documents: usize,
  counts: usize,
): void {
  for (; sizes < sizesEnd; sizes += 4) {
    for (const termsEnd = terms + 4 * load<u32>(sizes); terms < termsEnd; terms += 4) {
      const place = next + 4 * load<u32>(terms);
      const to = load<u32>(place);
      store<u32>(place, to + 1);
      store<u32>(documents + 4 * to, document);
      store<u16>(counts + 2 * to, load<u16>(frequencies));
      frequencies += 2;
    }
    document++;
  }
}
