/** The records of a CSV file (RFC 4180), from its text in pieces: quoted fields may contain commas, quotes and line breaks. */
export class CsvRecords {
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
