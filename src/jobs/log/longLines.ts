import { formatCount } from '../../core/text/format.ts';
import { type Printable, printableText } from '../../core/text/printable.ts';

/** VS Code itself stops rendering a line here. */
export const MAX_LINE = 10_000;

/** Shortens lines that are too long for an editor. Takes text piece by piece, so a line may be longer than memory. */
export class LineShortener {
  /** How many characters of the current line were pushed. */
  #length = 0;

  push(text: Printable): Printable {
    if (!this.#hasLongLine(text)) {
      const end = text.lastIndexOf('\n');
      this.#length = end < 0 ? this.#length + text.length : text.length - end - 1;
      return text;
    }
    const lines = text.split('\n');
    return printableText(lines.map((line, index) => this.#shorten(line, index < lines.length - 1)).join(''));
  }

  #hasLongLine(text: string): boolean {
    let start = -this.#length;
    for (let end = text.indexOf('\n'); end >= 0; end = text.indexOf('\n', end + 1)) {
      if (end - start > MAX_LINE) return true;
      start = end + 1;
    }
    return text.length - start > MAX_LINE;
  }

  #shorten(line: string, isEnded: boolean): string {
    const visible = line.slice(0, Math.max(0, MAX_LINE - this.#length));
    this.#length += line.length;
    if (!isEnded) return visible;
    const hidden = this.#length - MAX_LINE;
    this.#length = 0;
    return hidden <= 0 ? `${visible}\n` : `${visible}… ${formatCount(hidden, 'more character')} in this line\n`;
  }
}
