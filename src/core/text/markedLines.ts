import { setNewest } from '../setNewest.ts';
import { randomBytes } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { tryParseJson } from '../jsonFields.ts';
import { MAX_VALUE_LENGTH, MAX_WRITERS } from './outputLimits.ts';

/**
 * Values within a program's output, as lines that nothing else writes:
 *
 *     @@farwharf/flow:1:<writer>:<number>:<part>/<parts>:<length>:<crc32>:<a piece of JSON, in ASCII>
 *
 * The JSON of a value is split into parts of less than 4 KB, which POSIX writes to a pipe atomically (write(2), PIPE_BUF), so that output
 * of other processes to the same pipe falls between lines. If a line is cut or mixed with other text anyway, its length or checksum does
 * not match, and it remains text. Each writer numbers its values, so that a reader notices when one was lost.
 *
 * A value is also lost if its JSON is longer than `MAX_VALUE_LENGTH` or nested deeper than `MAX_JSON_DEPTH`.
 */
const MARK = '@@farwharf/flow:1:';
const PART_LENGTH = 3_000;
// The longest possible marked line.
const MAX_LINE = PART_LENGTH + 120;
const LINE = /^([0-9a-f]{8}):(\d{1,12}):(\d{1,5})\/(\d{1,5}):(\d{1,4}):([0-9a-f]{8}):(.*)$/s;

/** Writes values as marked lines. */
export class MarkedLineWriter {
  readonly #write: (line: string) => void;
  readonly #id = randomBytes(4).toString('hex');
  #last = 0;

  /** @param write receives one complete line at a time, and must write it in one piece. */
  constructor(write: (line: string) => void) {
    this.#write = write;
  }

  write(value: unknown): void {
    const json = asAscii(JSON.stringify(value));
    const parts = Math.ceil(json.length / PART_LENGTH);
    this.#last += 1;
    for (let part = 1; part <= parts; part += 1) {
      const piece = json.slice((part - 1) * PART_LENGTH, part * PART_LENGTH);
      this.#write(`${MARK}${this.#id}:${this.#last}:${part}/${parts}:${piece.length}:${checksum(piece)}:${piece}\n`);
    }
  }
}

/** A piece of output, in order: text that a program printed, or a value between. */
export type OutputPiece =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'value'; readonly value: unknown };

/** The progress of reading the values of one writer. */
interface Progress {
  last: number;
  /** The value that is being read. */
  number: number;
  pieces: string[];
  length: number;
}

interface Part {
  readonly writer: string;
  readonly number: number;
  readonly part: number;
  readonly parts: number;
  readonly piece: string;
}

/** Extracts marked lines from a stream of text, which may be split anywhere. */
export class MarkedLineReader {
  #held = '';
  readonly #writers = new Map<string, Progress>();
  #lost = 0;

  /** How many values were lost or damaged. */
  get lost(): number {
    return this.#lost;
  }

  /** Whether the text so far ends in what may be a part of a marked line. */
  get isHolding(): boolean {
    return this.#held !== '';
  }

  push(text: string): readonly OutputPiece[] {
    const pieces: OutputPiece[] = [];
    const all = this.#held + text;
    this.#held = '';
    // The start of the text that is not in `pieces` yet.
    let start = 0;
    for (let at = all.indexOf(MARK); at >= 0; at = all.indexOf(MARK, at)) {
      // Limited to the longest line, because otherwise each mark without an end would make this search all following text.
      const window = all.slice(at, at + MAX_LINE);
      const end = window.indexOf('\n');
      if (end < 0 && window.length < MAX_LINE) {
        addText(pieces, all.slice(start, at));
        this.#held = window;
        return pieces;
      }
      const part = end < 0 ? undefined : readPart(window.slice(MARK.length, end));
      if (part === undefined) {
        at += MARK.length;
      } else {
        addText(pieces, all.slice(start, at));
        this.#add(part, pieces);
        at += end + 1;
        start = at;
      }
    }
    const partialMark = beginningOfMark(all.slice(Math.max(start, all.length - MARK.length)));
    this.#held = all.slice(all.length - partialMark);
    addText(pieces, all.slice(start, all.length - partialMark));
    return pieces;
  }

  /** Returns the buffered text, once the stream has ended. */
  end(): readonly OutputPiece[] {
    const pieces: OutputPiece[] = [];
    addText(pieces, this.#held);
    this.#held = '';
    return pieces;
  }

  #add({ writer, number, part, parts, piece }: Part, pieces: OutputPiece[]): void {
    const progress = this.#progressOf(writer);
    if (progress.number !== number) Object.assign(progress, { number, pieces: [], length: 0 });
    if (progress.pieces.length !== part - 1 || number <= progress.last) return; // a part is missing, or a line was repeated
    progress.length += piece.length;
    // For a value that is too long, only its parts are counted.
    progress.pieces.push(progress.length > MAX_VALUE_LENGTH ? '' : piece);
    if (part < parts) return;
    this.#lost += number - progress.last - 1;
    progress.last = number;
    const value = progress.length > MAX_VALUE_LENGTH ? undefined : tryParseJson(progress.pieces.join(''));
    progress.pieces = [];
    if (value === undefined) this.#lost += 1;
    else pieces.push({ type: 'value', value });
  }

  /** Above the limit, the writer that has written nothing for longest is forgotten. */
  #progressOf(writer: string): Progress {
    const progress = this.#writers.get(writer) ?? { last: 0, number: 0, pieces: [], length: 0 };
    setNewest(this.#writers, writer, progress, MAX_WRITERS);
    return progress;
  }
}

function readPart(line: string): Part | undefined {
  const [, writer, number, part, parts, length, sum, piece = ''] = LINE.exec(line.replace(/\r$/, '')) ?? [];
  if (writer === undefined || piece.length !== Number(length) || checksum(piece) !== sum) return undefined;
  return { writer, number: Number(number), part: Number(part), parts: Number(parts), piece };
}

/** The text of pieces, without values. */
export function textOf(pieces: readonly OutputPiece[]): string {
  return pieces.map((piece) => (piece.type === 'text' ? piece.text : '')).join('');
}

function addText(pieces: OutputPiece[], text: string): void {
  if (text === '') return;
  const last = pieces.at(-1);
  if (last?.type === 'text') pieces[pieces.length - 1] = { type: 'text', text: last.text + text };
  else pieces.push({ type: 'text', text });
}

/** How many characters at the end of a text could start a mark. */
function beginningOfMark(text: string): number {
  for (let length = Math.min(MARK.length - 1, text.length); length > 0; length -= 1) {
    if (text.endsWith(MARK.slice(0, length))) return length;
  }
  return 0;
}

function asAscii(json: string): string {
  return json.replaceAll(
    /[\u007f-\uffff]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

function checksum(text: string): string {
  return crc32(text).toString(16).padStart(8, '0');
}
