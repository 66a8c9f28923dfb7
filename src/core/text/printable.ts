declare const brand: unique symbol;

/**
 * Text that is safe to show. Names, logs and messages come from services, jobs, archives and folders that others wrote; what prints
 * demands this type, so that text which did not pass one of the functions below does not compile.
 */
export type Printable = string & { readonly [brand]: true };

// CSI; OSC, DCS, SOS, PM and APC strings with their end (BEL or ST); any other escape. A string without its end loses only its
// beginning: a field that swallowed the rest of a line could hide what we say behind it. No class contains what begins another
// match, so the time is linear.
const ESCAPE_SEQUENCES = new RegExp(
  '(?:\\u001b\\[|\\u009b)[0-?]*[ -/]*[@-~]?' +
    '|(?:\\u001b\\]|\\u009d)(?:[^\\u0007\\u001b\\u0090\\u0098\\u009c-\\u009f\\n]*(?:\\u0007|\\u001b\\\\|\\u009c))?' +
    '|(?:\\u001b[PX^_]|[\\u0090\\u0098\\u009e\\u009f])(?:[^\\u001b\\u0090\\u0098\\u009c-\\u009f\\n]*(?:\\u001b\\\\|\\u009c))?' +
    '|\\u001b[ -/]*[0-~]?',
  'g',
);
// C0 and C1 controls without tab and line feed; marks, embeddings, overrides and isolates of direction (UAX #9); characters
// without a shape, by which two different names look the same: soft hyphen, Hangul fillers, zero-width space, word joiner and
// invisible operators, byte order mark, annotations, tags. Joiners stay between characters beyond ASCII, where scripts and emoji need them.
const INVISIBLE =
  '[\\u0000-\\u0008\\u000b-\\u001f\\u007f-\\u009f\\u00ad\\u061c\\u115f\\u1160\\u180e\\u200b\\u200e\\u200f\\u202a-\\u202e' +
  '\\u2060-\\u206f\\u3164\\ufeff\\uffa0\\ufff9-\\ufffb]|\\udb40[\\udc00-\\udc7f]';
const JOINERS = '(?<![^\\u0000-\\u007f])[\\u200c\\u200d]|[\\u200c\\u200d](?![^\\u0000-\\u007f])';
const NEVER_SHOWN = new RegExp(`${INVISIBLE}|${JOINERS}`, 'g');
const SEPARATORS = /[\u2028\u2029]/g;
const LINE_ENDS = /[\n\v\f\r\u0085\u2028\u2029]+/g;
// Colours and text weight only (ECMA-48, SGR): every other sequence can move the cursor, write the clipboard or lie in links.
const KEPT = /(\u001b\[[0-9;:]*m|\r)/;
// Most text has none of all that, which one look tells.
const SUSPICIOUS = new RegExp(`${INVISIBLE}|[\\u200c\\u200d\\u2028\\u2029]`);
const SUSPICIOUS_LINE = new RegExp(`${INVISIBLE}|[\\n\\u200c\\u200d\\u2028\\u2029]`);
// The longest path of Linux, and a sentence around it.
const LINE_LIMIT = 5_000;

/**
 * Text of several lines without escape sequences, control characters other than tab and line feed, and characters that are
 * not seen. A carriage return before a line feed is dropped with the rest.
 */
export function printableText(text: string): Printable {
  if (!SUSPICIOUS.test(text) && text.isWellFormed()) return text as Printable;
  const clean = text.toWellFormed().replace(ESCAPE_SEQUENCES, '').replace(SEPARATORS, '\n').replace(NEVER_SHOWN, '');
  return clean as Printable;
}

/** The same as one line of at most 5,000 characters: line ends become blanks, and a longer text ends in an ellipsis. */
export function printableLine(text: string): Printable {
  if (text.length <= LINE_LIMIT && !SUSPICIOUS_LINE.test(text) && text.isWellFormed()) return text as Printable;
  // Sequences first: the rest of one that is cut in two would be shown.
  const line = printableText(text).replace(LINE_ENDS, ' ');
  return (line.length <= LINE_LIMIT ? line : `${line.slice(0, LINE_LIMIT - 1).toWellFormed()}…`) as Printable;
}

/** A program's output for a terminal: its colours and carriage returns stay. */
export function printableOutput(text: string): Printable {
  return text
    .split(KEPT)
    .map((part, index) => (index % 2 === 1 ? part : printableText(part)))
    .join('') as Printable;
}

/** Data for another program, as they are. Never for a screen. */
export function exactData(text: string): Printable {
  return text as Printable;
}

/** A value as one line of JSON. What a terminal would obey is written as `\u` and its number, so that programs read it as it was. */
export function printableJson(value: unknown): Printable {
  return JSON.stringify(value).replace(NEVER_SHOWN, escapeUnits).replace(SEPARATORS, escapeUnits) as Printable;
}

/** A line of our own around text of others: `printable` before a template makes each of its values one line. */
export function printable(own: TemplateStringsArray, ...values: readonly (string | number)[]): Printable {
  return String.raw({ raw: own }, ...values.map((value) => printableLine(String(value)))) as Printable;
}

/** Printable parts as one, with a separator that is ours. */
export function joinPrintable(parts: readonly Printable[], separator = ''): Printable {
  return parts.join(separator) as Printable;
}

function escapeUnits(text: string): string {
  return text
    .split('')
    .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
    .join('');
}
