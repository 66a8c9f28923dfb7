declare const brand: unique symbol;

/**
 * Text that is safe to show. Names, logs and messages come from services, jobs, archives and folders of others. Functions that print
 * require this type, so that printing text which has not passed one of the functions below does not compile.
 */
export type Printable = string & { readonly [brand]: true };

// CSI; OSC, DCS, SOS, PM and APC strings with their terminator (BEL or ST); any other escape. Of a string without a terminator only the
// introducer is removed, because removing the rest of the line could hide our own text. No class contains the start of another match, so
// the time is linear.
const ESCAPE_SEQUENCES = new RegExp(
  '(?:\\u001b\\[|\\u009b)[0-?]*[ -/]*[@-~]?' +
    '|(?:\\u001b\\]|\\u009d)(?:[^\\u0007\\u001b\\u0090\\u0098\\u009c-\\u009f\\n]*(?:\\u0007|\\u001b\\\\|\\u009c))?' +
    '|(?:\\u001b[PX^_]|[\\u0090\\u0098\\u009e\\u009f])(?:[^\\u001b\\u0090\\u0098\\u009c-\\u009f\\n]*(?:\\u001b\\\\|\\u009c))?' +
    '|\\u001b[ -/]*[0-~]?',
  'g',
);
// C0 and C1 controls except tab and line feed; marks, embeddings, overrides and isolates of direction (UAX #9); invisible characters,
// which make different names look the same: soft hyphen, Hangul fillers, zero-width space, word joiner, invisible operators, byte order
// mark, annotations, tags. Joiners between non-ASCII characters are kept, because scripts and emoji need them.
const INVISIBLE =
  '[\\u0000-\\u0008\\u000b-\\u001f\\u007f-\\u009f\\u00ad\\u061c\\u115f\\u1160\\u180e\\u200b\\u200e\\u200f\\u202a-\\u202e' +
  '\\u2060-\\u206f\\u3164\\ufeff\\uffa0\\ufff9-\\ufffb]|\\udb40[\\udc00-\\udc7f]';
const JOINERS = '(?<![^\\u0000-\\u007f])[\\u200c\\u200d]|[\\u200c\\u200d](?![^\\u0000-\\u007f])';
const NEVER_SHOWN = new RegExp(`${INVISIBLE}|${JOINERS}`, 'g');
const SEPARATORS = /[\u2028\u2029]/g;
const LINE_ENDS = /[\n\v\f\r\u0085\u2028\u2029]+/g;
// Only colours and text weight (ECMA-48, SGR): other sequences can move the cursor, write to the clipboard or fake links.
const KEPT = /(\u001b\[[0-9;:]*m|\r)/;
// One test for most text, which contains none of these.
const SUSPICIOUS = new RegExp(`${INVISIBLE}|[\\u200c\\u200d\\u2028\\u2029]`);
const SUSPICIOUS_LINE = new RegExp(`${INVISIBLE}|[\\n\\u200c\\u200d\\u2028\\u2029]`);
// The longest path on Linux, and a sentence around it.
const LINE_LIMIT = 5_000;

/**
 * Text of several lines without escape sequences, invisible characters, and control characters other than tab and line feed. A carriage
 * return before a line feed is removed too.
 */
export function printableText(text: string): Printable {
  if (!SUSPICIOUS.test(text) && text.isWellFormed()) return marked(text);
  const clean = text.toWellFormed().replace(ESCAPE_SEQUENCES, '').replace(SEPARATORS, '\n').replace(NEVER_SHOWN, '');
  return marked(clean);
}

/** The same as one line of at most 5,000 characters: line breaks become spaces, and longer text ends with an ellipsis. */
export function printableLine(text: string): Printable {
  if (text.length <= LINE_LIMIT && !SUSPICIOUS_LINE.test(text) && text.isWellFormed()) return marked(text);
  // Sequences are removed first, because the rest of a truncated one would be shown.
  const line = printableText(text).replace(LINE_ENDS, ' ');
  return marked(line.length <= LINE_LIMIT ? line : `${line.slice(0, LINE_LIMIT - 1).toWellFormed()}…`);
}

/** A program's output for a terminal, with its colours and carriage returns. */
export function printableOutput(text: string): Printable {
  const parts = text.split(KEPT).map((part, index) => (index % 2 === 1 ? part : printableText(part)));
  return marked(parts.join(''));
}

/** Data for another program, unchanged. Never for a screen. */
export function exactData(text: string): Printable {
  return marked(text);
}

/** A value as one line of JSON. Control characters are escaped as `\u` and their number, so that programs read them unchanged. */
export function printableJson(value: unknown): Printable {
  return marked(JSON.stringify(value).replace(NEVER_SHOWN, escapeUnits).replace(SEPARATORS, escapeUnits));
}

/** A template tag for untrusted values: each of them becomes one line. */
export function printable(strings: TemplateStringsArray, ...values: readonly (string | number)[]): Printable {
  return marked(String.raw({ raw: strings }, ...values.map((value) => printableLine(String(value)))));
}

/** Joins printable parts with a separator of ours. */
export function joinPrintable(parts: readonly Printable[], separator = ''): Printable {
  return marked(parts.join(separator));
}

function marked(text: string): Printable {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- only here, so that all other text must be cleaned
  return text as Printable;
}

function escapeUnits(text: string): string {
  return text
    .split('')
    .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
    .join('');
}
