import {
  BYTES,
  DIGIT,
  LENGTH,
  LOWER,
  MAX_WORD,
  SECOND,
  SEPARATOR,
  STOPPED_AT,
  TERM_PADDING,
  UPPER,
} from './kernelLayout.ts';
import { endOfRecord, kindsAt } from './intern.ts';

const NOT_ASCII: u64 = 0x8080808080808080;
// The bit that distinguishes lower case from upper case.
const CASE_BIT = 5;

// The addresses for the next term and its span.
let text: usize = 0;
let spans: usize = 0;

/**
 * Writes the terms of words in lower case, not stemmed yet, and their spans, and returns the end of the spans. The terms are the whole
 * word and, if there are several, its parts, split at case changes (fooBar, HTTPServer), digits and separators. A word's second number
 * becomes the number of its terms. Stops at a word that is not ASCII, and writes its record.
 */
export function splitTerms(record: usize, recordsEnd: usize, textStart: usize, spansStart: usize): usize {
  text = textStart;
  spans = spansStart;
  while (record < recordsEnd && isAscii(record)) {
    const start = record + BYTES;
    const length = load<u32>(record, LENGTH);
    const first = spans;
    if (length <= u32(MAX_WORD)) splitWord(start, start + length);
    store<u32>(record, (spans - first) >> 3, SECOND);
    record = endOfRecord(record);
  }
  store<u32>(0, record, STOPPED_AT);
  return spans;
}

function splitWord(start: usize, end: usize): void {
  let at = skip(SEPARATOR, start, end);
  while (at < end && kindsAt(end - 1) & SEPARATOR) end--;
  if (at == end) return;
  writeTerm(at, end);
  let parts = 0;
  while (at < end) {
    let from = skip(SEPARATOR, at, end);
    at = skip(DIGIT, from, end);
    if (at == from) {
      at = skip(UPPER, from, end);
      if (at - from > 1 && at < end && kindsAt(at) & LOWER) {
        // The last of several capitals starts the next word.
        writeTerm(from, at - 1);
        parts++;
        from = at - 1;
      }
      if (at - from < 2) at = skip(LOWER, at, end);
    }
    writeTerm(from, at);
    parts++;
  }
  // A word with a single part is one term.
  if (parts == 1) spans -= 8;
}

function isAscii(record: usize): bool {
  const end = endOfRecord(record);
  let bytes: u64 = 0;
  for (let at = record + BYTES; at < end; at += 8) bytes |= load<u64>(at);
  return (bytes & NOT_ASCII) == 0;
}

/** The first address from `at` on whose byte is not of a class. */
function skip(kind: u32, at: usize, end: usize): usize {
  while (at < end && kindsAt(at) & kind) at++;
  return at;
}

/** Writes a part of a word in lower case, and its span. */
function writeTerm(from: usize, to: usize): void {
  store<u32>(spans, text);
  for (let at = from; at < to; at++) {
    store<u8>(text, load<u8>(at) | ((kindsAt(at) & UPPER) << CASE_BIT));
    text++;
  }
  store<u32>(spans, text, 4);
  spans += 8;
  text += TERM_PADDING;
}
