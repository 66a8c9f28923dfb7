import { detectEncoding, type TextEncoding } from '../../core/text/textEncoding.ts';
import { findMarked, findToken, hasPrivateKey, SECRET_MARKS, TOKEN_BEGINNINGS } from './secretFormats.ts';

// Every token contains a run of at least this length. Most words are shorter, so most bytes are skipped.
const SHORTEST_RUN = 20;
const LONGEST_LOOK = 512;
const LOOK_BACK = 64;
const LOOK_AHEAD = 200;
const PRIVATE_KEY_HEADER = 'PRIVATE KEY';
const PRIVATE_KEY_BACK = 64;
const PRIVATE_KEY_AHEAD = 1024;
const MARK_AHEAD = 600;
// In UTF-8, or narrowed from UTF-16.
const BYTE_ORDER_MARK = /^(?:\u00EF\u00BB\u00BF| )/;
// A secret may be split between two chunks.
const OVERLAP = 2048;
const TOKEN_CHARACTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
const [DASH, UNDERSCORE, DOT, TILDE] = [0x2d, 0x5f, 0x2e, 0x7e];
/** A number from 1 for each byte that a token can contain; 0 for others. */
const CODES = Uint8Array.from({ length: 256 }, (_, byte) => TOKEN_CHARACTERS.indexOf(String.fromCharCode(byte)) + 1);
/** Whether a token starts with three given characters, by their codes. */
const BEGINS_TOKEN = new Uint8Array(1 << 21);
for (const beginning of TOKEN_BEGINNINGS) BEGINS_TOKEN[codeAt(Buffer.from(beginning), 0)] = 1;
// The characters before a value: `KEY=value`, `"KEY": "value"`.
const BEFORE_VALUE = new Set(Buffer.from('=:"\'` '));
const NAME_OF_KEY = /(?:key|token)["'\])]*\s*[:=]\s*["'`]?$/i;
const LONGEST_NAME_END = 24;
const LONGEST_PART = 34;
const BEGINNING = 3;
const NONE: ReadonlySet<string> = new Set();
const PARTED_TOKEN =
  /(?:SG\.(?:[\w-]{22}\.)?|hv[sb]\.|ya29\.|\bdp\.[a-z]{2,5}\.|\bdt0[a-z]\d{2}\.(?:[A-Z0-9]{24}\.)?|\batlasv1\.|\dQ~)$/;

/** Searches one file for secrets, chunk by chunk, in any text encoding. Binary data is skipped. */
export class SecretScanner {
  #encoding: TextEncoding | undefined;
  #tail: Buffer | undefined;

  /** The name of the first secret that ends in this chunk, if any. All chunks except the last must have an even length. */
  scan(chunk: Buffer): string | undefined {
    this.#encoding ??= detectEncoding(chunk);
    if (this.#encoding === 'binary') return undefined;
    const text = this.#encoding === 'bytes' ? chunk : narrow(chunk, this.#encoding);
    const across =
      this.#tail === undefined ? undefined : findSecret(Buffer.concat([this.#tail, text.subarray(0, OVERLAP)]));
    const match = across ?? findSecret(text);
    this.#tail = Buffer.from(text.subarray(-OVERLAP));
    return match;
  }
}

/** The name of the first secret in a whole file, if any. */
export function findSecretInBytes(bytes: Buffer): string | undefined {
  const encoding = detectEncoding(bytes);
  if (encoding === 'binary') return undefined;
  return findSecret(encoding === 'bytes' ? bytes : narrow(bytes, encoding));
}

function findSecret(text: Buffer): string | undefined {
  return findPrivateKey(text) ?? findMarks(text) ?? findTokens(text);
}

function findPrivateKey(text: Buffer): string | undefined {
  for (let at = text.indexOf(PRIVATE_KEY_HEADER); at !== -1; at = text.indexOf(PRIVATE_KEY_HEADER, at + 1)) {
    const around = text.toString('latin1', Math.max(0, at - PRIVATE_KEY_BACK), at + PRIVATE_KEY_AHEAD);
    if (hasPrivateKey(around)) return 'private key';
  }
  return undefined;
}

function findMarks(text: Buffer): string | undefined {
  const atStart = `\n${text.toString('latin1', 0, MARK_AHEAD).replace(BYTE_ORDER_MARK, '')}`;
  for (const mark of SECRET_MARKS) {
    const first = atStart.startsWith(mark) ? findMarked(mark, atStart) : undefined;
    if (first !== undefined) return first;
    for (let at = text.indexOf(mark); at !== -1; at = text.indexOf(mark, at + mark.length)) {
      const match = findMarked(mark, text.toString('latin1', at, at + MARK_AHEAD));
      if (match !== undefined) return match;
    }
  }
  return undefined;
}

/**
 * Searches runs of `SHORTEST_RUN` bytes that a token can contain. Like Boyer and Moore's search, it checks every 20th byte, and from there
 * goes back to the last byte that no token contains. In text with short words, it reads a third of the bytes.
 */
function findTokens(text: Buffer): string | undefined {
  let runStart = 0;
  let unseen = 0; // bytes from here on were not read yet
  for (let at = SHORTEST_RUN - 1; at < text.length; ) {
    let back = at;
    while (back >= unseen && CODES[text[back] ?? 0] !== 0) back -= 1;
    if (back >= unseen) {
      runStart = back + 1;
      unseen = at + 1;
      at = back + SHORTEST_RUN;
      continue;
    }
    let end = at + 1;
    while (end < text.length && CODES[text[end] ?? 0] !== 0) end += 1;
    const beginnings = beginningsIn(text, runStart, end);
    const match = beginnings && findToken(around(text, runStart, end), beginnings);
    if (match !== undefined) return match;
    runStart = end + 1;
    unseen = runStart;
    at = end + SHORTEST_RUN;
  }
  return undefined;
}

/** The beginnings of tokens in a run; undefined if it can be none. A cheap check, because most long runs are names or base64. */
function beginningsIn(text: Buffer, start: number, end: number): ReadonlySet<string> | undefined {
  const last = Math.min(end, start + LONGEST_LOOK);
  let possible: Set<string> | undefined;
  let isStart = true;
  for (let at = start; at < last; at += 1) {
    if (isStart && BEGINS_TOKEN[codeAt(text, at)] === 1) {
      possible ??= new Set();
      possible.add(text.toString('latin1', at, at + BEGINNING));
    }
    isStart = text[at] === DASH || text[at] === UNDERSCORE;
  }
  return possible ?? (isAfterName(text, start) ? NONE : undefined);
}

/** Whether what is before a run is the name of a key, or the first part of a token. */
function isAfterName(text: Buffer, start: number): boolean {
  if (start === 0) return false;
  const before = text[start - 1] ?? 0;
  const end = (length: number): string => text.toString('latin1', Math.max(0, start - length), start);
  if (before === DOT || before === TILDE) return PARTED_TOKEN.test(end(LONGEST_PART));
  return BEFORE_VALUE.has(before) && NAME_OF_KEY.test(end(LONGEST_NAME_END));
}

/** Seven bits for each of three characters. */
function codeAt(text: Buffer, at: number): number {
  return ((CODES[text[at] ?? 0] ?? 0) << 14) | ((CODES[text[at + 1] ?? 0] ?? 0) << 7) | (CODES[text[at + 2] ?? 0] ?? 0);
}

function around(text: Buffer, start: number, end: number): string {
  const last = Math.min(end, start + LONGEST_LOOK) + LOOK_AHEAD;
  return text.toString('latin1', Math.max(0, start - LOOK_BACK), last);
}

/** Converts UTF-16 to one byte per code unit; everything outside ASCII becomes a space. */
function narrow(bytes: Buffer, encoding: 'utf-16le' | 'utf-16be'): Buffer {
  const [low, high] = encoding === 'utf-16le' ? [0, 1] : [1, 0];
  const text = Buffer.allocUnsafe(bytes.length >> 1);
  for (let at = 0; at < text.length; at += 1) {
    text[at] = bytes[2 * at + high] === 0 ? (bytes[2 * at + low] ?? 0) : 0x20;
  }
  return text;
}
