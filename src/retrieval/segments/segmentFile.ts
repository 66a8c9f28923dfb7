import { closeSync, openSync, readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { crc32 } from 'node:zlib';
import { writeAtomically, writeAtomicallySync } from '../../core/files/atomicFile.ts';
import { ByteReader, ByteWriter } from './bytes.ts';
import { Dictionary } from './dictionary.ts';
import { type Segment, type SegmentSource, SOURCE_STATUSES } from './segment.ts';
import { NON_BLOCKING_READ } from './nonBlockingRead.ts';
import { AppError } from '../../core/errors.ts';

// A file is a header of 32-bit numbers, followed by the sections of a segment, each aligned to four bytes so that it can be used in
// place. Numbers are in the machine's byte order; on a machine with another one, the magic number does not match.
const MAGIC = 0x46_57_53_31; // FWS1
/** Incremented with every change of the format and of chunking and tokenizing, so that an older index is built again. */
export const INDEX_VERSION = 19;
const SECTIONS = 7;
const CHECKED_FROM = 4 * Uint32Array.BYTES_PER_ELEMENT;
const HEADER_BYTES = (4 + 3 + SECTIONS) * Uint32Array.BYTES_PER_ELEMENT;

/** What searches and merges need of a segment, and most of its memory. */
export type SegmentTerms = Pick<Segment, 'dictionary' | 'postings'>;

interface SegmentSections {
  readonly sourceCount: number;
  readonly termCount: number;
  readonly postingCount: number;
  readonly sections: readonly [
    sources: Uint8Array,
    lengths: Uint8Array,
    lines: Uint8Array,
    terms: Uint8Array,
    groups: Uint8Array,
    starts: Uint8Array,
    postings: Uint8Array,
  ];
}

/** The bytes of a segment's file. */
export function encodeSegment(segment: Segment): Uint8Array {
  const { dictionary, postings, postingCount, lengths } = segment;
  const sections = [
    encodeSources(segment.sources),
    bytesOf(lengths),
    encodeLines(segment),
    dictionary.bytes,
    bytesOf(dictionary.groups),
    bytesOf(dictionary.starts),
    postings,
  ];
  const total = sections.reduce((sum, { length }) => sum + aligned(length), HEADER_BYTES);
  const file = new Uint8Array(total);
  const header = new Uint32Array(file.buffer, 0, HEADER_BYTES / Uint32Array.BYTES_PER_ELEMENT);
  header.set([MAGIC, INDEX_VERSION, total, 0, segment.sources.length, dictionary.size, postingCount]);
  let at = HEADER_BYTES;
  for (const [index, section] of sections.entries()) {
    header[7 + index] = section.length;
    file.set(section, at);
    at += aligned(section.length);
  }
  header[3] = crc32(file.subarray(CHECKED_FROM));
  return file;
}

/** The segment in a file; undefined unless the bytes are exactly the output of this version's `encodeSegment`. */
export function decodeSegment(bytes: Uint8Array): Segment | undefined {
  const file = decodeSections(bytes);
  if (file === undefined) return undefined;
  const [sources, lengths, lines] = file.sections;
  const documents = new Uint16Array(lengths.buffer, lengths.byteOffset, lengths.length / 2);
  return {
    sources: decodeSources(sources, file.sourceCount),
    lengths: documents,
    ...decodeLines(lines, documents.length),
    ...decodeTerms(file),
    postingCount: file.postingCount,
  };
}

/** The sections of a file, in its order; undefined if it is damaged, or of another version or program. */
function decodeSections(bytes: Uint8Array): SegmentSections | undefined {
  if (bytes.length < HEADER_BYTES) return undefined;
  // Typed arrays must be aligned; a small file may have been read into a shared pool.
  const file = bytes.byteOffset % Uint32Array.BYTES_PER_ELEMENT === 0 ? bytes : Uint8Array.from(bytes);
  const header = new Uint32Array(file.buffer, file.byteOffset, HEADER_BYTES / Uint32Array.BYTES_PER_ELEMENT);
  const [magic, version, total, checksum, sourceCount = 0, termCount = 0, postingCount = 0] = header;
  if (magic !== MAGIC || version !== INDEX_VERSION || total !== file.length) return undefined;
  if (crc32(file.subarray(CHECKED_FROM)) !== checksum) return undefined;
  let at = HEADER_BYTES;
  const next = (index: number): Uint8Array => {
    const length = header[7 + index] ?? 0;
    at += aligned(length);
    return file.subarray(at - aligned(length), at - aligned(length) + length);
  };
  const sections = [next(0), next(1), next(2), next(3), next(4), next(5), next(6)] as const;
  return { sourceCount, termCount, postingCount, sections };
}

function decodeTerms({ termCount, sections }: SegmentSections): SegmentTerms {
  const [, , , terms, groups, starts, postings] = sections;
  return { dictionary: new Dictionary(termCount, terms, words(groups), words(starts)), postings };
}

/** Writes a segment, completely or not at all. @throws the system's error. */
export async function writeSegment(path: string, segment: Segment): Promise<void> {
  await writeAtomically(path, encodeSegment(segment));
}

/** Does so synchronously, for a build thread, which would otherwise be idle for 10 to 40 ms between the steps. */
export function writeSegmentSync(path: string, segment: Segment): void {
  writeAtomicallySync(path, encodeSegment(segment));
}

/** Reads a segment; undefined if the file is missing, damaged, or of another version or program. */
export async function readSegment(path: string): Promise<Segment | undefined> {
  const bytes = await readFile(path, { flag: NON_BLOCKING_READ }).catch(() => undefined);
  return bytes === undefined ? undefined : decodeSegment(bytes);
}

/** Reads the terms of a segment synchronously; undefined as for `readSegment`. */
function readTermsSync(path: string): SegmentTerms | undefined {
  let bytes: Uint8Array;
  let descriptor: number | undefined;
  try {
    descriptor = openSync(path, NON_BLOCKING_READ);
    bytes = readFileSync(descriptor);
  } catch {
    return undefined;
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
  const file = decodeSections(bytes);
  return file === undefined ? undefined : decodeTerms(file);
}

function encodeSources(sources: readonly SegmentSource[]): Uint8Array {
  const writer = new ByteWriter();
  for (const { path, size, mtimeMs, hash, status, documentCount } of sources) {
    writer.text(path);
    writer.double(size);
    writer.double(mtimeMs);
    writer.text(hash);
    writer.varint(SOURCE_STATUSES.indexOf(status));
    writer.varint(documentCount);
  }
  return writer.view();
}

function decodeSources(bytes: Uint8Array, count: number): SegmentSource[] {
  const reader = new ByteReader(bytes);
  let firstDocument = 0;
  return Array.from({ length: count }, () => {
    const [path, size, mtimeMs, hash] = [reader.text(), reader.double(), reader.double(), reader.text()];
    const status = SOURCE_STATUSES[reader.varint()] ?? 'unreadable';
    const documentCount = reader.varint();
    firstDocument += documentCount;
    return { path, size, mtimeMs, hash, status, firstDocument: firstDocument - documentCount, documentCount };
  });
}

/** For each document: the difference of its first line to that of the one before, with the sign in the lowest bit, and its number of lines. */
function encodeLines({ firstLines, lastLines }: Segment): Uint8Array {
  const writer = new ByteWriter();
  let before = 0;
  for (const [document, first] of firstLines.entries()) {
    const distance = first - before;
    writer.varint(distance < 0 ? -distance * 2 + 1 : distance * 2);
    writer.varint((lastLines[document] ?? first) - first);
    before = first;
  }
  return writer.view();
}

function decodeLines(bytes: Uint8Array, count: number): Pick<Segment, 'firstLines' | 'lastLines'> {
  const reader = new ByteReader(bytes);
  const [firstLines, lastLines] = [new Uint32Array(count), new Uint32Array(count)];
  let line = 0;
  for (let document = 0; document < count; document += 1) {
    const distance = reader.varint();
    line += (distance & 1) === 1 ? -(distance >>> 1) : distance >>> 1;
    firstLines[document] = line;
    lastLines[document] = line + reader.varint();
  }
  return { firstLines, lastLines };
}

function bytesOf(values: Uint16Array | Uint32Array): Uint8Array {
  return new Uint8Array(values.buffer, values.byteOffset, values.byteLength);
}

function words(bytes: Uint8Array): Uint32Array {
  return new Uint32Array(bytes.buffer, bytes.byteOffset, bytes.length / Uint32Array.BYTES_PER_ELEMENT);
}

function aligned(length: number): number {
  return (length + 3) & ~3;
}

/** A segment that was written to a file, and whose terms are read from it when a search or a merge needs them. */
export class StoredSegment implements Segment {
  readonly sources: Segment['sources'];
  readonly lengths: Uint16Array;
  readonly firstLines: Uint32Array;
  readonly lastLines: Uint32Array;
  readonly postingCount: number;
  readonly #file: string;
  #terms: SegmentTerms | undefined;

  constructor({ sources, lengths, firstLines, lastLines, postingCount }: Segment, file: string) {
    this.sources = sources;
    this.lengths = lengths.slice(); // they are a part of all the bytes of the file
    this.firstLines = firstLines;
    this.lastLines = lastLines;
    this.postingCount = postingCount;
    this.#file = file;
  }

  /** @throws AppError `corrupt` if the file does not exist or is damaged. */
  get dictionary(): Segment['dictionary'] {
    return this.#read().dictionary;
  }

  /** @throws AppError `corrupt` if the file does not exist or is damaged. */
  get postings(): Uint8Array {
    return this.#read().postings;
  }

  #read(): SegmentTerms {
    this.#terms ??= readTermsSync(this.#file);
    if (this.#terms === undefined)
      throw new AppError('corrupt', 'The search index was damaged or removed. Search again to have it built again.');
    return this.#terms;
  }
}
