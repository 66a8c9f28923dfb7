/** The functions of `assembly/tokenizer.ts`, whose sources say what they do. All parameters are addresses, except as named there. */
export interface TokenizerFunctions {
  findSpans(text: number, textEnd: number, spans: number): number;
  internWords(
    spans: number,
    spansEnd: number,
    found: number,
    records: number,
    recordsEnd: number,
    slots: number,
    mask: number,
    size: number,
  ): number;
  fillSlots(records: number, record: number, recordsEnd: number, slots: number, mask: number): void;
  splitTerms(record: number, recordsEnd: number, text: number, spans: number): number;
  stemTerms(spans: number, spansEnd: number): void;
  listTerms(record: number, recordsEnd: number, found: number, terms: number, lists: number, listsEnd: number): number;
  countWords(found: number, foundEnd: number, records: number, weight: number, counted: number): number;
  gatherTerms(
    counted: number,
    countedEnd: number,
    records: number,
    lists: number,
    counts: number,
    present: number,
  ): number;
  noteTerms(
    present: number,
    presentEnd: number,
    counts: number,
    holders: number,
    terms: number,
    frequencies: number,
  ): void;
  scatterPostings(
    terms: number,
    frequencies: number,
    sizes: number,
    sizesEnd: number,
    document: number,
    next: number,
    documents: number,
    counts: number,
  ): void;
  writePostings(
    documents: number,
    frequencies: number,
    count: number,
    levels: number,
    blocks: number,
    to: number,
  ): number;
  writeLevels(
    documents: number,
    frequencies: number,
    count: number,
    lengths: number,
    to: number,
    base: number,
    slope: number,
  ): number;
  sortWords(record: number, recordsEnd: number, entries: number, spare: number): number;
  writeEntry(last: number, lastSize: number, term: number, size: number, length: number, to: number): number;
}
