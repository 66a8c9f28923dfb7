import { type Edit, edited } from '../../syntax/edits.ts';

/** Changes to a text that leave every line where it was. They may come in any order and must not overlap. */
export class TextEdits {
  readonly #text: string;
  readonly #edits: Edit[] = [];

  constructor(text: string) {
    this.#text = text;
  }

  insert(at: number, text: string): void {
    this.#edits.push({ start: at, end: at, text });
  }

  /** Replaces a part by `text`, which has no line break, and keeps the line breaks of that part after it. */
  replace(start: number, end: number, text: string): void {
    const lines = this.#text.slice(start, end).replaceAll(/[^\n]/g, '');
    this.#edits.push({ start, end, text: text + lines });
  }

  apply(): string {
    return edited(this.#text, this.#edits);
  }
}
