import { DictionaryCursor, DictionaryWriter } from './dictionary.ts';
import type { LiveSegment } from './liveSegment.ts';
import { PostingList } from './postingList.ts';
import { PostingsWriter } from './postings.ts';
import type { Segment, SegmentSource } from './segment.ts';
import { GrowableBuffer, KernelMemory } from '../tokenizer/kernelMemory.ts';
import { TERM_PADDING } from '../kernel/assembly/kernelLayout.ts';

interface Cursor {
  readonly live: LiveSegment;
  /** The new number of each document. */
  readonly renumbered: Uint32Array;
  readonly terms: DictionaryCursor;
  readonly list: PostingList;
}

/**
 * Merges several segments into one, without removed sources; no text is read again. `isOldest` means that no older segment exists, so
 * that records of removed sources are no longer needed.
 */
export function mergeSegments(parts: readonly LiveSegment[], isOldest: boolean): Segment {
  const sources: SegmentSource[] = [];
  const lengths: number[] = [];
  const firstLines: number[] = [];
  const lastLines: number[] = [];
  const cursors = parts.map((live): Cursor => {
    const { segment, removedSources } = live;
    const renumbered = new Uint32Array(segment.lengths.length);
    for (const [index, source] of segment.sources.entries()) {
      if (removedSources.has(index) || (isOldest && source.status === 'removed')) continue;
      sources.push({ ...source, firstDocument: lengths.length });
      for (let at = source.firstDocument; at < source.firstDocument + source.documentCount; at += 1) {
        renumbered[at] = lengths.length;
        lengths.push(segment.lengths[at] ?? 0);
        firstLines.push(segment.firstLines[at] ?? 0);
        lastLines.push(segment.lastLines[at] ?? 0);
      }
    }
    const terms = new DictionaryCursor(segment.dictionary);
    terms.next();
    return { live, renumbered, terms, list: new PostingList() };
  });
  const typedLengths = Uint16Array.from(lengths);
  return {
    sources,
    lengths: typedLengths,
    firstLines: Uint32Array.from(firstLines),
    lastLines: Uint32Array.from(lastLines),
    ...mergeTerms(cursors, typedLengths),
  };
}

function mergeTerms(
  cursors: readonly Cursor[],
  lengths: Uint16Array,
): Pick<Segment, 'dictionary' | 'postings' | 'postingCount'> {
  const memory = new KernelMemory();
  const dictionary = new DictionaryWriter(memory);
  const lists = new PostingsWriter(memory);
  const places = { documents: new GrowableBuffer(memory), frequencies: new GrowableBuffer(memory) };
  places.documents.reserve(4 * lengths.length);
  places.frequencies.reserve(2 * lengths.length);
  const lengthsAt = memory.allocate(lengths.byteLength);
  memory.halves.set(lengths, lengthsAt / 2);
  const termBuffer = new GrowableBuffer(memory);
  let postingCount = 0;
  for (let first = firstTerm(cursors); first !== undefined; first = firstTerm(cursors)) {
    const term = Buffer.from(first.term.subarray(0, first.size));
    let count = 0;
    for (const cursor of cursors) {
      const { terms } = cursor;
      if (!terms.isValid || terms.compare(term) !== 0) continue;
      count = copyLive(cursor, memory, places, count);
      terms.next();
    }
    if (count === 0) continue;
    const start = lists.length;
    lists.add(places.documents.address, places.frequencies.address, count, lengthsAt);
    termBuffer.reserve(term.length + TERM_PADDING, 0);
    memory.bytes.set(term, termBuffer.address);
    dictionary.add(termBuffer.address, term.length, start, lists.length - start);
    postingCount += count;
  }
  return { dictionary: dictionary.finish(), postings: lists.finish(), postingCount };
}

function firstTerm(cursors: readonly Cursor[]): DictionaryCursor | undefined {
  let first: DictionaryCursor | undefined;
  for (const { terms } of cursors) {
    if (terms.isValid && (first === undefined || terms.compare(first.term, first.size) < 0)) first = terms;
  }
  return first;
}

/** Appends the postings of remaining documents after the first `count`, and returns the new count. */
function copyLive(
  { live, renumbered, terms, list }: Cursor,
  { numbers, halves }: KernelMemory,
  places: { readonly documents: GrowableBuffer; readonly frequencies: GrowableBuffer },
  count: number,
): number {
  const [documentsAt, frequenciesAt] = [places.documents.address / 4, places.frequencies.address / 2];
  let end = count;
  list.open(live.segment.postings, terms.start);
  for (let hasMore = list.advance(0) < renumbered.length; hasMore; hasMore = list.nextBlock()) {
    const { documents, frequencies, size } = list;
    for (let at = 0; at < size; at += 1) {
      const document = documents[at] ?? 0;
      if (live.removed[document] === 1) continue;
      numbers[documentsAt + end] = renumbered[document] ?? 0;
      halves[frequenciesAt + end] = frequencies[at] ?? 0;
      end += 1;
    }
  }
  return end;
}
