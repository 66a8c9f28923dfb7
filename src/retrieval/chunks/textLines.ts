/** A text by its lines, which end as those of any system do. */
export class TextLines {
  /** With '\n' between the lines. */
  readonly text: string;
  /** Where each line begins in the text, and behind the last where one more would. */
  readonly starts: readonly number[];

  constructor(text: string) {
    this.text = text.includes('\r') ? text.replaceAll(/\r\n?/g, '\n') : text;
    const starts = [0];
    for (let end = this.text.indexOf('\n'); end >= 0; end = this.text.indexOf('\n', end + 1)) starts.push(end + 1);
    // The end of the last line is no line.
    if (starts.at(-1) !== this.text.length) starts.push(this.text.length + 1);
    this.starts = starts;
  }

  get count(): number {
    return this.starts.length - 1;
  }

  /** The lines from one to before another: a part of the text, which is not copied. */
  slice(from: number, to = from + 1): string {
    return this.text.slice(this.starts[from], (this.starts[to] ?? 0) - 1);
  }

  /** Each line. */
  all(): string[] {
    return Array.from({ length: this.count }, (_, line) => this.slice(line));
  }

  /** How many characters those lines have with their ends. */
  charactersOf(from: number, to: number): number {
    return (this.starts[to] ?? 0) - (this.starts[from] ?? 0);
  }
}
