import { hash as digest } from 'node:crypto';
import { closeSync, constants, fstatSync, openSync, readSync, type Stats } from 'node:fs';
import { join } from 'node:path';
import type { Chunk } from '../chunks/chunk.ts';
import { chunkText } from '../chunks/chunkText.ts';
import { decodeText, notebookText } from '../chunks/documentText.ts';
import { isNotebook } from '../chunks/languages.ts';
import type { Source, SourceStatus } from '../segments/segment.ts';
import { NON_BLOCKING_READ } from '../segments/nonBlockingRead.ts';

/** A larger file is data or generated, and would dominate the results. */
const MAX_FILE_BYTES = 1_000_000;
// A file may be written twice within one tick of the file system's clock. So its time is trusted only if it was older than a tick (two
// seconds on FAT) when the file was read. Git does the same with its index ("racy git").
const CLOCK_TICK_MS = 2000;
// Shared by all reads: a buffer per file takes half as long again, and produces garbage.
const BUFFER = Buffer.allocUnsafeSlow(MAX_FILE_BYTES);

// Below the license, which comes first in many files.
const READ = 1500;

// Few files contain one of these, and the expressions below take ten times as long.
const HINT = /generated|made by gnu/i;

// A program wrote the first version, and people write the next ones: Django's settings, Sphinx' configuration, RSpec's helpers.
const SCAFFOLD = /startproject|startapp|quickstart|rails generate|create-\w+-app|scaffold/i;

// Programs that write files contain the same sentences in quotes.
const UNQUOTED = `^[^"'\`\\n]*`;
const HOW = '(?:auto[- ]?|automatically |machine[- ])';
const DO_NOT_EDIT = 'do not (?:edit|modify|change)\\b';

const SENTENCE = new RegExp(
  [
    `${UNQUOTED}\\bthis (?:file|code|source|header|module|script|document) (?:is|was|has been) ${HOW}?@?generated (?!by hand)`,
    `${UNQUOTED}\\b(?:this is an?|file|code) ${HOW}generated\\b`,
    `${UNQUOTED}\\bgenerated\\b.{0,100}\\b${DO_NOT_EDIT}`,
    `${UNQUOTED}\\b${DO_NOT_EDIT}[^"'\`]{0,200}\\b${HOW}?generated\\b`,
    '^[^\\w\\n@"\'`]*@generated\\b',
    '^\\W{0,4}an? (?:bison|yacc|lalr|lexical)\\b.{0,40} (?:made|generated) by ',
  ].join('|'),
  'im',
);

// Within a sentence that began on another line, it has a small letter.
const TITLE =
  /^(?:[^\w\n@"'`]*|.{0,40}\. +)(?:Generated|GENERATED|Auto-?[gG]enerated|Automatically generated)(?: automatically)? (?:by|from|using|with) /m;

/** A file as listed in the folder. */
export interface ListedFile {
  /** Relative to the folder, with '/'. */
  readonly path: string;
  readonly size: number;
  readonly mtimeMs: number;
}

export interface IndexedFile {
  readonly source: Source;
  readonly chunks: readonly Chunk[];
  /** Its version on disk; undefined if a later one could look the same, and for the text of an editor. */
  readonly version?: string | undefined;
}

/**
 * Reads a file of a folder and splits it into chunks. A file that is binary, too large or unreadable has none, and its source says why.
 * Returns undefined if the file does not exist. Links, pipes and devices are never opened.
 */
export function readIndexedFile(root: string, path: string, now: () => number = Date.now): IndexedFile | undefined {
  const read = readBytes(join(root, path));
  if (read === 'missing') return undefined;
  if (read === 'unreadable') return unread({ path, size: 0, mtimeMs: 0 }, 'unreadable');
  const { size, bytes } = read;
  const isSettled = now() - read.mtimeMs > CLOCK_TICK_MS;
  const file = { path, size, mtimeMs: isSettled ? read.mtimeMs : 0 };
  if (bytes === undefined) return unread(file, 'too-large');
  const text = decodeText(bytes);
  const hash = digest('sha256', bytes, 'hex').slice(0, 32);
  if (text === undefined) return { source: { ...file, hash, status: 'binary' }, chunks: [] };
  return indexed({ ...file, hash, status: statusOf(text) }, text, { stats: read.stats, readAt: now() });
}

/** What identifies a version of a file; undefined if a later one could look the same. */
export function versionOf({ ino, size, mtimeMs, ctimeMs }: Stats, readAt: number): string | undefined {
  // A write changes the time of the status, which programs cannot set.
  const isSettled = readAt - Math.max(mtimeMs, ctimeMs) > CLOCK_TICK_MS;
  return isSettled ? `${ino} ${size} ${mtimeMs} ${ctimeMs}` : undefined;
}

/** A file with the text of an editor. */
export function indexText(path: string, text: string): IndexedFile {
  const size = Buffer.byteLength(text);
  const file = { path, size, mtimeMs: 0 };
  if (size > MAX_FILE_BYTES) return unread(file, 'too-large');
  return indexed({ ...file, hash: digest('sha256', text, 'hex').slice(0, 32), status: statusOf(text) }, text);
}

function statusOf(text: string): SourceStatus {
  return saysGenerated(text) ? 'generated' : 'indexed';
}

/** Splits the text on demand only, because most files that are read again are unchanged. */
function indexed(
  source: Source,
  text: string,
  onDisk?: { readonly stats: Stats; readonly readAt: number },
): IndexedFile {
  let chunks: readonly Chunk[] | undefined;
  return {
    source,
    get version() {
      return onDisk === undefined ? undefined : versionOf(onDisk.stats, onDisk.readAt);
    },
    get chunks() {
      chunks ??= chunkText(readable(source.path, text), source.path, 'smart');
      return chunks;
    },
  };
}

function unread(file: ListedFile, status: 'unreadable' | 'too-large'): IndexedFile {
  // Instead of a hash, a value that is the same as long as the reason is.
  return { source: { ...file, hash: `${status} ${file.size}`, status }, chunks: [] };
}

/** The cells of a notebook; an invalid one is treated as plain text. */
function readable(path: string, text: string): string {
  if (!isNotebook(path)) return text;
  try {
    return notebookText(text, path);
  } catch {
    return text;
  }
}

interface ReadBytes {
  readonly stats: Stats;
  readonly size: number;
  readonly mtimeMs: number;
  /** Undefined for a file that is too large. */
  readonly bytes: Uint8Array | undefined;
}

function readBytes(path: string): ReadBytes | 'missing' | 'unreadable' {
  let descriptor: number | undefined;
  try {
    // Opening a pipe would wait for its other end, and a link may point outside the folder.
    descriptor = openSync(path, NON_BLOCKING_READ | (constants.O_NOFOLLOW ?? 0));
    const stats = fstatSync(descriptor);
    if (!stats.isFile()) return 'unreadable';
    const { size, mtimeMs } = stats;
    if (size > MAX_FILE_BYTES) return { stats, size, mtimeMs, bytes: undefined };
    const bytes = readInto(BUFFER, descriptor, size);
    // Its size changed while it was read, so its time does not belong to these bytes.
    return { stats, size: bytes.length, mtimeMs: bytes.length === size ? mtimeMs : Infinity, bytes };
  } catch (error) {
    const isGone = error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ENOTDIR');
    return isGone ? 'missing' : 'unreadable';
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
}

/** The bytes of a file, valid until the next one is read; fewer than `size` if it became shorter. */
function readInto(buffer: Buffer, descriptor: number, size: number): Uint8Array {
  let end = 0;
  for (;;) {
    const count = readSync(descriptor, buffer, end, buffer.length - end, null);
    end += count;
    if (count === 0 || end >= size) return buffer.subarray(0, end);
  }
}

/** Whether the first lines of a file say that a program wrote it, and writes it again. */
export function saysGenerated(text: string): boolean {
  const first = text.slice(0, READ);
  return HINT.test(first) && !SCAFFOLD.test(first) && (SENTENCE.test(first) || TITLE.test(first));
}
