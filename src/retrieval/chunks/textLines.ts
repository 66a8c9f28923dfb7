/** A text split into lines, with the line endings of any system. */
export class TextLines {
  /** The text with '\n' between the lines. */
  readonly text: string;
  /** The start of each line in the text, and where one more line would start. */
  readonly starts: readonly number[];

  constructor(text: string) {
    this.text = text.includes('\r') ? text.replaceAll(/\r\n?/g, '\n') : text;
    const starts = [0];
    for (let end = this.text.indexOf('\n'); end >= 0; end = this.text.indexOf('\n', end + 1)) starts.push(end + 1);
    // A final line ending does not start another line.
    if (starts.at(-1) !== this.text.length) starts.push(this.text.length + 1);
    this.starts = starts;
  }

  get count(): number {
    return this.starts.length - 1;
  }

  /** The lines of a range with an exclusive end, as a part of the text that is not copied. */
  slice(from: number, to = from + 1): string {
    return this.text.slice(this.starts[from], (this.starts[to] ?? 0) - 1);
  }

  /** Each line. */
  all(): string[] {
    return Array.from({ length: this.count }, (_, line) => this.slice(line));
  }

  /** The number of characters in these lines, including line endings. */
  charactersOf(from: number, to: number): number {
    return (this.starts[to] ?? 0) - (this.starts[from] ?? 0);
  }
}
