import { ANCHOR, type Alphabet, NO_PART, type Sequence, SKIPPED } from './patternMatcher.ts';
import { forEachByte, UnescapedText } from './unescapedText.ts';

// Shorter lines of a value, such as braces, occur in ordinary text.
const MIN_LINE = 8;
// A value of any number of lines is searched for as a whole.
const MAX_LINES = 100;
const BASE64_BITS = 6;

/** What is searched for, in each form of a text. */
export interface Spellings {
  /** In the text as it is: the value and its lines. */
  readonly exact: readonly Sequence[];
  /** In the text without escapes and line breaks: the value, its lines, and the value in base64 and in hexadecimal. */
  readonly unescaped: readonly Sequence[];
  /** Whether a text of `exact` is too short without its escapes to be searched for. */
  readonly hasShort: boolean;
}

export function spellingsOf(values: readonly string[]): Spellings {
  const lines = values
    .flatMap((value) => value.split(/\r?\n/, MAX_LINES))
    .map((line) => line.trim())
    .filter((line) => line.length >= MIN_LINE);
  const whole = values.map((value) => value.trim() || value);
  const texts = [...new Set([...whole, ...lines])];
  return {
    exact: texts.map((text) => ({ bytes: exactBytes(text) })),
    unescaped: [
      ...texts.flatMap(unescapedForms).map((bytes) => ({ bytes })),
      ...whole.flatMap(base64Forms).map((bytes) => ({ bytes })),
      ...whole.flatMap((text) => hexadecimalForms(Buffer.from(text))),
    ],
    hasShort: texts.some((text) => unescaped(text).length < ANCHOR),
  };
}

function exactBytes(text: string): Uint8Array {
  const bytes: number[] = [];
  for (let at = 0; at < text.length; at += 1) forEachByte(text.charCodeAt(at), (byte) => bytes.push(byte));
  return Uint8Array.from(bytes);
}

/**
 * What a text becomes without escapes: if it was printed as it is, although parts of it may look like escapes; if all of it was
 * escaped, in UTF-8 or in Latin-1, and its spaces perhaps as plus signs; and if it was escaped twice, which leaves the letter of a line
 * break.
 */
function unescapedForms(text: string): readonly Uint8Array[] {
  const escaped = text.replaceAll(/(?:[\n\r][\t ]*)+|[\u001B\\]/g, '');
  const twice = text.replaceAll('\r', 'r').replaceAll('\n', 'n').replaceAll('\t', 't').replaceAll('\\', '');
  const forms = [escaped, escaped.replaceAll(' ', '+'), twice];
  const isLatin1 = /^[\0-ÿ]*$/.test(text);
  return [
    unescaped(text),
    ...forms.flatMap((form) => [
      exactBytes(form),
      Buffer.from(form),
      ...(isLatin1 ? [Buffer.from(form, 'latin1')] : []),
    ]),
  ];
}

/** What is sure to be read of a text, whatever follows it. */
function unescaped(text: string): Uint8Array {
  const bytes: number[] = [];
  const sink = {
    read: (byte: number) => bytes.push(byte),
    readRun: (run: Uint8Array, at: number, end: number) => {
      bytes.push(...run.subarray(at, end));
      return end;
    },
    isFree: () => false,
    break: () => {},
    reset: () => {},
  };
  new UnescapedText(sink, { isAscii: false, isSeparator: () => false, onEscape: () => {} }).read(text, 0, false);
  return Uint8Array.from(bytes);
}

/** The characters of base64 that the value alone decides, after any number of other bytes, in both alphabets (RFC 4648). */
function base64Forms(value: string): readonly Uint8Array[] {
  const escaped = JSON.stringify(value).slice(1, -1);
  return [...new Set([value, escaped])].flatMap((form) =>
    [0, 1, 2].flatMap((bytesBefore) => {
      const bytes = Buffer.concat([Buffer.alloc(bytesBefore), Buffer.from(form)]);
      const first = Math.ceil((bytesBefore * 8) / BASE64_BITS);
      const end = Math.floor((bytes.length * 8) / BASE64_BITS);
      const all = (['base64', 'base64url'] as const).map((alphabet) => bytes.toString(alphabet).slice(first));
      // If nothing follows the value, its padding is a part of it.
      return [...all.map((text) => text.slice(0, end - first)), ...all.slice(0, 1)].map((text) => Buffer.from(text));
    }),
  );
}

const DIGITS: Alphabet = Uint16Array.from({ length: 256 }, (_, byte) => {
  const character = String.fromCharCode(byte);
  if (/[\da-f]/i.test(character)) return character.toLowerCase().charCodeAt(0);
  return /[ :,;xX-]/.test(character) ? SKIPPED : NO_PART;
});
// How the digits of bytes begin in dumps: what separates them, and how many bytes are together.
const DUMPS = [
  ['', 1],
  [' ', 1],
  [':', 1],
  ['-', 1],
  [',', 1],
  [', ', 1],
  [' ', 2],
  [' ', 4],
] as const;
const HEAD_BYTES = 8;

/** Also with `0x` before each byte, of which the zero stays. */
function hexadecimalForms(bytes: Buffer): readonly Sequence[] {
  const pairs = Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0'));
  const heads = DUMPS.map(([separator, size]) => grouped(pairs.slice(0, HEAD_BYTES), size).join(separator));
  const zeroHeads = [' ', ',', ', '].map((separator) => `0x${pairs.slice(0, HEAD_BYTES).join(`${separator}0x`)}`);
  return [
    { bytes: Buffer.from(pairs.join('')), alphabet: DIGITS, heads: inBothCases(heads) },
    { bytes: Buffer.from(`0${pairs.join('0')}`), alphabet: DIGITS, heads: inBothCases(zeroHeads) },
  ];
}

function grouped(pairs: readonly string[], size: number): readonly string[] {
  const groups = Array.from({ length: Math.ceil(pairs.length / size) }, (_, index) => index * size);
  return groups.map((first) => pairs.slice(first, first + size).join(''));
}

function inBothCases(texts: readonly string[]): readonly Uint8Array[] {
  return texts.flatMap((text) => [text, text.toUpperCase().replaceAll('X', 'x')]).map((text) => Buffer.from(text));
}
