import { AppError } from '../../core/errors.ts';
import { isEventId } from '../protocol/eventId.ts';
import type { JobEvent } from './jobEvent.ts';
import { isTooDeep } from '../../core/jsonFields.ts';

const MAX_LINE_BYTES = 8 * 1024 * 1024;
const MAX_EVENT_CHARACTERS = 16 * 1024 * 1024;
// V8 needs about 40 bytes for each part of a concatenated text.
const LINE_CHARACTERS = 40;
const LF = 0x0a;
const CR = 0x0d;
const LINE_END = /[\r\n]/g;
const BYTE_ORDER_MARK = 0xfeff;
const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;

/**
 * Decodes the bytes of an event stream by the rules of the specification's section 6. Where they leave something open: lines end
 * at LF, CRLF or CR; a leading byte order mark is dropped; a field needs its colon; a blank line without data changes nothing.
 *
 * Each chunk is decoded up to its last line end, and the rest is buffered. A character that is split between chunks needs no
 * special handling, because no byte of a multi-byte UTF-8 sequence equals LF or CR.
 */
export class EventDecoder {
  // Bytes of an incomplete line.
  #held: Uint8Array[] = [];
  #heldBytes = 0;
  #endedWithCr = false;
  // Complete lines, read up to `#position`.
  #text = '';
  #position = 0;
  #hasCr = false;
  #isAtStart = true;
  // The current event.
  #name = '';
  #id: string | undefined;
  #data: string | undefined;
  #characters = 0;

  /**
   * Adds bytes. Call it only after `take` has returned all events of the previous bytes.
   *
   * @throws AppError `limit` for a line over 8 MB.
   */
  push(chunk: Uint8Array): void {
    if (chunk.length === 0) return;
    const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length); // shares the memory; a Buffer searches ten times faster
    // If the last chunk ended with CR, an LF at the start of this one belongs to the same line end.
    const start = this.#endedWithCr && bytes[0] === LF ? 1 : 0;
    const end = Math.max(bytes.lastIndexOf(LF), bytes.lastIndexOf(CR)) + 1;
    this.#endedWithCr = bytes.at(-1) === CR;
    if (end > start) this.#setText([...this.#takeHeld(), bytes.subarray(start, end)]);
    this.#hold(bytes.subarray(Math.max(start, end)));
  }

  /** Ends the stream. An incomplete line, and an event without its blank line, still count. */
  finish(): void {
    this.#setText([...this.#takeHeld(), Buffer.from('\n\n')]);
  }

  /**
   * The next events, at most `limit`; none if more bytes are needed.
   *
   * @throws AppError `limit` for an event over 16 MB, or with over 400,000 lines of data.
   */
  take(limit: number): JobEvent[] {
    const events: JobEvent[] = [];
    const text = this.#text;
    let position = this.#position;
    while (position < text.length) {
      const first = text.charCodeAt(position);
      if (first === LF || first === CR) {
        position += 1; // the LF of a CRLF is one more blank line, which changes nothing
        if (this.#data === undefined) continue;
        events.push(this.#takeEvent(this.#data));
        if (events.length === limit) break;
        continue;
      }
      const end = this.#hasCr ? nextLineEnd(text, position) : text.indexOf('\n', position);
      switch (first) {
        case 0x64: // d
          if (text.startsWith('ata:', position + 1)) this.#addData(trimmed(text, position + 5, end));
          break;
        case 0x65: // e
          if (text.startsWith('vent:', position + 1)) this.#name = trimmed(text, position + 6, end);
          break;
        case 0x69: // i
          if (text.startsWith('d:', position + 1)) this.#setId(trimmed(text, position + 3, end));
          break;
        default: // a comment or an unused field
      }
      position = text.charCodeAt(end) === CR && text.charCodeAt(end + 1) === LF ? end + 2 : end + 1;
    }
    this.#position = position;
    return events;
  }

  #hold(bytes: Uint8Array): void {
    if (bytes.length === 0) return;
    this.#heldBytes += bytes.length;
    if (this.#heldBytes > MAX_LINE_BYTES) throw lineTooLong();
    this.#held.push(bytes);
  }

  #takeHeld(): Uint8Array[] {
    const pending = this.#held;
    this.#held = [];
    this.#heldBytes = 0;
    return pending;
  }

  #setText(parts: readonly Uint8Array[]): void {
    const bytes = Buffer.concat(parts);
    const text = bytes.toString('utf8');
    if (bytes.length > MAX_LINE_BYTES) checkLines(bytes);
    this.#text = text;
    this.#position = this.#isAtStart && text.charCodeAt(0) === BYTE_ORDER_MARK ? 1 : 0;
    this.#isAtStart = false;
    this.#hasCr = text.includes('\r');
  }

  #addData(line: string): void {
    this.#characters += line.length + LINE_CHARACTERS;
    if (this.#characters > MAX_EVENT_CHARACTERS) {
      throw new AppError(
        'limit',
        'The service sent an event that needs more than 16 MB. Check that the address is that of a job service.',
      );
    }
    this.#data = this.#data === undefined ? line : `${this.#data}\n${line}`;
  }

  /** Ignores an ID that cannot be sent back in a header, as WHATWG HTML, 9.2.6, does for a NUL. */
  #setId(id: string): void {
    if (isEventId(id)) this.#id = id;
  }

  #takeEvent(text: string): JobEvent {
    const event = this.#name === '' ? 'message' : this.#name;
    const id = this.#id;
    this.#name = '';
    this.#id = undefined;
    this.#data = undefined;
    this.#characters = 0;
    const data = decodeIfJson(text);
    const decoded: unknown = id === undefined ? { event, data } : { event, data, id };
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- typed as documented
    return decoded as JobEvent;
  }
}

function nextLineEnd(text: string, start: number): number {
  LINE_END.lastIndex = start;
  LINE_END.test(text);
  return LINE_END.lastIndex - 1;
}

/** A value without surrounding white space. Usually it has one space before it and none after, and `trim` is not called. */
function trimmed(text: string, start: number, end: number): string {
  const from = text.charCodeAt(start) === 0x20 ? start + 1 : start;
  return isInk(text.charCodeAt(from)) && isInk(text.charCodeAt(end - 1))
    ? text.slice(from, end)
    : text.slice(from, end).trim();
}

/** Whether the character is printable ASCII, so that it cannot be white space. */
function isInk(code: number): boolean {
  return code > 0x20 && code < 0x7f;
}

/** Checks the lines inside one large chunk, which ends with a line end. A line that arrives in several chunks is measured as it grows. */
function checkLines(bytes: Buffer): void {
  let start = 0;
  for (let index = 0; index < bytes.length; index++) {
    const byte = bytes[index];
    if (byte !== LF && byte !== CR) continue;
    if (index - start > MAX_LINE_BYTES) throw lineTooLong();
    start = index + 1;
  }
}

function lineTooLong(): AppError {
  return new AppError(
    'limit',
    'The service sent a line longer than 8 MB. Check that the address is that of a job service.',
  );
}

/**
 * The value of a text that is JSON, else the text itself; also for JSON that is nested deeper than 1,000 levels.
 *
 * `JSON.parse` takes some microseconds to throw for a log line. The first and last characters show that most are not JSON.
 */
function decodeIfJson(text: string): unknown {
  if (!mayBeJson(text) || isTooDeep(text)) return text;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

function mayBeJson(text: string): boolean {
  const last = text.charCodeAt(text.length - 1);
  // A line feed at either end comes from an empty data line, and JSON allows it there.
  if (last === 0x0a) return true;
  switch (text.charCodeAt(0)) {
    case 0x7b: // {
      return last === 0x7d;
    case 0x5b: // [
      return last === 0x5d;
    case 0x22: // "
      return last === 0x22;
    case 0x74: // t
      return text === 'true';
    case 0x66: // f
      return text === 'false';
    case 0x6e: // n
      return text === 'null';
    case 0x0a:
      return true;
    default:
      return NUMBER.test(text);
  }
}
