import type { Chunk } from '../chunks/chunk.ts';
import { DocumentTerms } from './documentTerms.ts';
import { MAX_LENGTH } from './scoreLevels.ts';
import type { Segment, SegmentSource, Source } from './segment.ts';
import { isProse } from '../chunks/languages.ts';
import { summarySpans } from '../chunks/summaries.ts';
import { definitionTerm } from '../tokenizer/definitionTerm.ts';
import { detectProseLanguage, type ProseLanguage } from '../tokenizer/proseLanguages.ts';
import { languageTerm, proseStems } from '../tokenizer/proseStems.ts';
import { signedLanguageOf, signedNamesIn, withoutSigns } from '../tokenizer/signedNames.ts';
import { Vocabulary, WordList } from '../tokenizer/vocabulary.ts';
import { FIRST } from '../kernel/assembly/kernelLayout.ts';
import { ENTRY_BYTES, RECORD } from '../kernel/assembly/kernelLayout.ts';
import type { KernelMemory } from '../tokenizer/kernelMemory.ts';
import type { TermInternTable } from '../tokenizer/termInternTable.ts';

// Extra weights of words by where they occur, in addition to 1 per occurrence in the text, as selected by `bench/ranking.ts --sweep`.
// They do not count for the length, which is that of the text only.
const SYMBOL_WEIGHT = 8;
const SCOPE_WEIGHT = 2;
const SUMMARY_WEIGHT = 1;
const PATH_WEIGHT = 1;
const FILE_NAME_WEIGHT = 1;

// What is read to detect the language of prose.
const MOST_SAMPLES = 8;
const SAMPLE_CHARACTERS = 400;

/** The word counter, with its buffers for the words of a path and of its last name. */
interface Counter {
  readonly documents: DocumentTerms;
  readonly pathWords: WordList;
  readonly nameWords: WordList;
}

// An unused counter, which consecutive builders share. Creating its memory and kernel takes long, and the engine has optimized the code
// that calls this kernel, which it would do again for another.
let idleCounter: Counter | undefined;
// Its memory never shrinks. The 24 MB of files that a thread indexes in one step need 50 to 80 MB.
const MOST_IDLE_BYTES = 128 * 1024 * 1024;

/** Collects the chunks of sources and builds a segment from them. */
export class SegmentBuilder {
  readonly #counter: Counter;
  readonly #vocabulary: Vocabulary;
  readonly #documents: DocumentTerms;
  readonly #sources: SegmentSource[] = [];
  readonly #lengths: number[] = [];
  readonly #firstLines: number[] = [];
  readonly #lastLines: number[] = [];

  constructor() {
    this.#counter = idleCounter ?? newCounter();
    idleCounter = undefined;
    this.#documents = this.#counter.documents;
    this.#vocabulary = this.#documents.vocabulary;
  }

  /** Adds a source with all its chunks. */
  add(source: Source, chunks: readonly Chunk[]): void {
    this.#sources.push({ ...source, firstDocument: this.#lengths.length, documentCount: chunks.length });
    this.#vocabulary.read(`${source.path} ${signedLanguageOf(source.path)}`, this.#counter.pathWords);
    this.#vocabulary.read(source.path.slice(source.path.lastIndexOf('/') + 1), this.#counter.nameWords);
    const language = isProse(source.path) ? detectProseLanguage(samplesOf(chunks)) : undefined;
    for (const chunk of chunks) this.#addChunk(chunk, language);
  }

  finish(): Segment {
    this.#vocabulary.releaseWords();
    const terms = this.#vocabulary.terms.table;
    const order = orderTerms(this.#vocabulary.memory, terms);
    const numbers = order.map((term) => terms.numberOf(term, FIRST));
    const { documents, frequencies, ends } = this.#documents.byTerm(numbers);
    const { lists, dictionary } = this.#documents;
    const lengths = Uint16Array.from(this.#lengths);
    const lengthsAt = this.#documents.keepLengths(lengths);
    let from = 0;
    for (let rank = 0; rank < order.length; rank += 1) {
      const start = lists.length;
      const to = ends[numbers[rank] ?? 0] ?? 0;
      lists.add(documents + 4 * from, frequencies + 2 * from, to - from, lengthsAt);
      from = to;
      const term = order[rank] ?? 0;
      dictionary.add(terms.bytesAt(term), terms.lengthOf(term), start, lists.length - start);
    }
    const { postingCount } = this.#documents;
    const postings = lists.finish();
    this.#documents.clear();
    if (this.#vocabulary.memory.bytes.length <= MOST_IDLE_BYTES) idleCounter = this.#counter;
    return {
      sources: this.#sources,
      lengths,
      firstLines: Uint32Array.from(this.#firstLines),
      lastLines: Uint32Array.from(this.#lastLines),
      dictionary: dictionary.finish(),
      postings,
      postingCount,
    };
  }

  #addChunk({ text, symbols, scope, startLine, endLine }: Chunk, language: ProseLanguage | undefined): void {
    const vocabulary = this.#vocabulary;
    const length = vocabulary.count(text, 1);
    vocabulary.countParts(text, summarySpans(text), SUMMARY_WEIGHT);
    const signed = signedNamesIn(text);
    if (signed !== '') vocabulary.count(signed, 1);
    // In one call, because each takes as long as several words.
    if (symbols.length > 0) vocabulary.count(wordsOf(symbols), SYMBOL_WEIGHT);
    if (scope.length > 0) vocabulary.count(scope.join(' '), SCOPE_WEIGHT);
    if (language !== undefined) {
      vocabulary.count(`${languageTerm(language)} ${proseStems(text, language)}`, 1);
      if (symbols.length > 0) vocabulary.count(proseStems(symbols.join(' '), language), SYMBOL_WEIGHT);
      if (scope.length > 0) vocabulary.count(proseStems(scope.join(' '), language), SCOPE_WEIGHT);
    }
    vocabulary.countAgain(this.#counter.pathWords, PATH_WEIGHT);
    vocabulary.countAgain(this.#counter.nameWords, FILE_NAME_WEIGHT);
    this.#documents.add();
    this.#lengths.push(Math.min(length, MAX_LENGTH));
    this.#firstLines.push(startLine);
    this.#lastLines.push(endLine);
  }
}

/** The beginnings of some chunks, evenly over a file. */
function* samplesOf(chunks: readonly Chunk[]): Generator<string, void> {
  const step = Math.max(1, chunks.length / MOST_SAMPLES);
  for (let at = 0; at < chunks.length; at += step) yield chunks[Math.floor(at)]?.text.slice(0, SAMPLE_CHARACTERS) ?? '';
}

/** The names of definitions, and the terms of the definitions themselves. */
function wordsOf(symbols: readonly string[]): string {
  const all = symbols.join(' ');
  const names = signedNamesIn(all) === '' ? symbols : symbols.map(withoutSigns);
  return `${names.join(' ')} ${names.map((name) => definitionTerm(name) ?? '').join(' ')}`;
}

function newCounter(): Counter {
  const vocabulary = new Vocabulary();
  const { memory } = vocabulary;
  return {
    documents: new DocumentTerms(vocabulary),
    pathWords: new WordList(memory),
    nameWords: new WordList(memory),
  };
}

/** The words of a table, sorted by their bytes. */
export function orderTerms(memory: KernelMemory, table: TermInternTable): Uint32Array {
  const size = ENTRY_BYTES * table.size;
  const buffer = memory.allocate(2 * size);
  const { address, first, end } = table;
  const entries = memory.kernel.sortWords(address + first, address + end, buffer, buffer + size);
  const { numbers } = memory;
  const order = new Uint32Array(table.size);
  for (let at = 0; at < order.length; at += 1) {
    order[at] = (numbers[(entries + ENTRY_BYTES * at + RECORD) / 4] ?? 0) - address;
  }
  memory.free(buffer, 2 * size);
  return order;
}
