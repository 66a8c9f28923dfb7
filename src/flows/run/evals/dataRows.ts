import { extname } from 'node:path';
import { StringDecoder } from 'node:string_decoder';
import { AppError, messageOf } from '../../../core/errors.ts';
import { isTooDeep, parseJson } from '../../../core/jsonFields.ts';
import { namedFilePieces } from '../../../core/files/namedFile.ts';

const MAX_CHARACTERS = 100_000_000;
const MAX_ROW = 1_000_000;
export const MAX_ROW_DEPTH = 100;
export const TOO_DEEP = `it is nested more than ${MAX_ROW_DEPTH} levels deep`;
const COLUMN = /^expect\.(.+?)(?:\.(\$(?:exact|matches|schema|judge)))?$/s;

/** A row of a data set: a value of JSON, the cells of CSV, or what is wrong with it. */
export type Row = { readonly line: number } & (
  | { readonly type: 'json'; readonly value: unknown }
  | ({ readonly type: 'csv' } & CsvCells)
  | { readonly type: 'bad'; readonly reason: string }
);

interface CsvCells {
  readonly name: string | undefined;
  readonly shared: Readonly<Record<string, string>>;
  readonly expect: readonly (readonly [key: string, expected: unknown])[];
}

/**
 * The rows of a JSONL or CSV file, read piece by piece.
 *
 * @throws AppError `limit` for a row or a file that is too large, `bad-input` for another type of file.
 */
export function rowsOf(path: string): AsyncGenerator<Row, void> {
  const extension = extname(path).toLowerCase();
  if (extension === '.csv') return csvRows(path);
  if (extension === '.jsonl' || extension === '.ndjson') return jsonRows(path);
  throw new AppError('bad-input', `The data set ${path} must be a .jsonl or .csv file.`);
}

async function* piecesOf(path: string): AsyncGenerator<string, void> {
  let length = 0;
  let isFirst = true;
  const decoder = new StringDecoder('utf8');
  // Its own limit, which counts characters, comes first.
  const name = `The data set ${path}`;
  for await (const bytes of namedFilePieces(path, { name, maxBytes: Number.POSITIVE_INFINITY })) {
    const piece = decoder.write(bytes);
    length += piece.length;
    if (length > MAX_CHARACTERS) throw tooLarge(path);
    yield isFirst ? piece.replace(/^\uFEFF/, '') : piece;
    isFirst = false;
  }
}

async function* jsonRows(path: string): AsyncGenerator<Row, void> {
  let rest = '';
  let line = 0;
  for await (const piece of piecesOf(path)) {
    const lines = (rest + piece).split('\n');
    rest = lines.pop() ?? '';
    for (const text of lines) {
      line += 1;
      if (text.length > MAX_ROW) throw tooLong(path, line);
      if (text.trim() !== '') yield jsonRow(line, text);
    }
    if (rest.length > MAX_ROW) throw tooLong(path, line + 1);
  }
  if (rest.trim() !== '') yield jsonRow(line + 1, rest);
}

async function* csvRows(path: string): AsyncGenerator<Row, void> {
  const records = new CsvRecords();
  let header: readonly string[] | undefined;
  const rowOf = ({ line, fields }: { readonly line: number; readonly fields: readonly string[] }): Row | undefined => {
    if (header !== undefined) return csvRow(line, header, fields);
    const [twice] = [...Map.groupBy(fields, (name) => name).values()].find(({ length }) => length > 1) ?? [];
    if (twice !== undefined) throw new AppError('bad-input', `${path}:${line}: two columns are called "${twice}".`);
    header = fields;
    return undefined;
  };
  for await (const piece of piecesOf(path)) {
    for (const record of records.push(piece)) {
      const row = rowOf(record);
      if (row !== undefined) yield row;
    }
    if (records.pending > MAX_ROW) throw tooLong(path, records.firstLine);
  }
  for (const record of records.end()) {
    const row = rowOf(record);
    if (row !== undefined) yield row;
  }
}

function csvRow(line: number, header: readonly string[], fields: readonly string[]): Row {
  if (fields.length !== header.length) {
    return { line, type: 'bad', reason: `it has ${fields.length} fields, but the header has ${header.length}` };
  }
  const shared: [string, string][] = [];
  const expect: [string, unknown][] = [];
  let name: string | undefined;
  for (const [index, column] of header.entries()) {
    const cell = fields[index] ?? '';
    const [, key, check] = COLUMN.exec(column) ?? [];
    if (key === undefined && column !== 'name') shared.push([column, cell]);
    if (cell === '' || (key === undefined && column !== 'name')) continue;
    if (key === undefined) name = cell;
    else if (check === '$schema') {
      const row = jsonRow(line, cell);
      if (row.type !== 'json') return row;
      expect.push([key, { $schema: row.value }]);
    } else expect.push([key, check === undefined ? cell : { [check]: cell }]);
  }
  return { line, type: 'csv', name, shared: Object.fromEntries(shared), expect };
}

function jsonRow(line: number, text: string): Row {
  if (isTooDeep(text)) return { line, type: 'bad', reason: TOO_DEEP };
  try {
    return { line, type: 'json', value: parseJson(text) };
  } catch (error) {
    return { line, type: 'bad', reason: `it is not valid JSON: ${messageOf(error)}` };
  }
}

function tooLarge(path: string): AppError {
  return new AppError('limit', `The data set ${path} is larger than 100 MB. Split it.`);
}

function tooLong(path: string, line: number): AppError {
  return new AppError('limit', `${path}:${line}: the row is longer than 1,000,000 characters.`);
}

/** The records of a CSV file (RFC 4180), from its text in pieces: quoted fields may contain commas, quotes and line breaks. */
class CsvRecords {
  #fields: string[] = [];
  #field = '';
  #state: 'start' | 'plain' | 'quoted' | 'closed' = 'start';
  #line = 1;
  #firstLine = 1;
  #length = 0;
  #wasReturn = false;

  /** The length of the unfinished record, to limit it. */
  get pending(): number {
    return this.#length;
  }

  /** The line in which the unfinished record begins, from 1. */
  get firstLine(): number {
    return this.#firstLine;
  }

  *push(text: string): Generator<{ readonly line: number; readonly fields: readonly string[] }, void> {
    for (const character of text) {
      const isLineEnd = character === '\r' || (character === '\n' && !this.#wasReturn);
      const isSecond = character === '\n' && this.#wasReturn;
      this.#wasReturn = character === '\r';
      if (isLineEnd) this.#line += 1;
      if (this.#state === 'quoted') {
        if (character === '"') this.#state = 'closed';
        else this.#add(character);
      } else if (isLineEnd) yield* this.#endRecord();
      else if (isSecond) continue;
      else this.#unquoted(character);
    }
  }

  /** The last record, if the text does not end with a line break. */
  *end(): Generator<{ readonly line: number; readonly fields: readonly string[] }, void> {
    if (this.#fields.length > 0 || this.#state !== 'start') yield* this.#endRecord();
  }

  #unquoted(character: string): void {
    if (character === ',') this.#endField();
    else if (character === '"' && this.#state !== 'plain') {
      if (this.#state === 'closed') this.#add('"');
      this.#state = 'quoted';
    } else {
      this.#add(character);
      if (this.#state === 'start') this.#state = 'plain';
    }
  }

  #add(character: string): void {
    this.#field += character;
    this.#length += 1;
  }

  #endField(): void {
    this.#fields.push(this.#field);
    this.#field = '';
    this.#state = 'start';
    this.#length += 1;
  }

  *#endRecord(): Generator<{ readonly line: number; readonly fields: readonly string[] }, void> {
    const isEmpty = this.#fields.length === 0 && this.#state === 'start';
    this.#endField();
    const record = { line: this.#firstLine, fields: this.#fields };
    this.#fields = [];
    this.#length = 0;
    this.#firstLine = this.#line;
    if (!isEmpty) yield record;
  }
}
