import type { Chunk, ChunkBounds } from './chunk.ts';

const NOT_BLANK = /\S/;
const NO_SYMBOLS: readonly string[] = [];
// Characters above it take two UTF-16 code units.
const LAST_OF_ONE_UNIT = 0xffff;

/** Lines that belong together: a definition, a section, a paragraph. `from` is 0-based, `to` is exclusive. */
export interface Block {
  readonly from: number;
  readonly to: number;
  readonly symbols: readonly string[];
  /** The line that defines the first of them, which may be below a comment; 0-based. */
  readonly definedAt: number;
  readonly scope: readonly string[];
  /** Whether it starts a new chunk even if it would fit into the previous one. */
  readonly isApart: boolean;
}

/** Packs blocks into chunks within the bounds. Larger blocks are split at lines, and larger lines at characters. */
export function packBlocks(text: TextLines, blocks: readonly Block[], source: string, bounds: ChunkBounds): Chunk[] {
  const chunks: Chunk[] = [];
  let open: Block | undefined;
  for (const block of blocks) {
    if (open !== undefined && !block.isApart && fits(text, open.from, block.to, bounds)) {
      open = joined(open, block);
    } else {
      if (open !== undefined) cut(text, open, source, bounds, chunks);
      open = block;
    }
  }
  if (open !== undefined) cut(text, open, source, bounds, chunks);
  return chunks;
}

// Blocks and chunks are created in one place each, so that they have one hidden class; several would make the engine optimize again.
function joined({ from, symbols, definedAt, scope, isApart }: Block, next: Block): Block {
  const all = next.symbols.length === 0 ? symbols : [...symbols, ...next.symbols];
  return { from, to: next.to, symbols: all, definedAt, scope, isApart };
}

function fits(text: TextLines, from: number, to: number, bounds: ChunkBounds): boolean {
  return to - from <= bounds.lines && text.charactersOf(from, to) <= bounds.characters;
}

function cut(text: TextLines, block: Block, source: string, bounds: ChunkBounds, chunks: Chunk[]): void {
  const { to, definedAt } = block;
  let { from, symbols, scope } = block;
  // A long comment before a definition is about it, but does not contain it.
  const inside = symbols.length === 0 ? scope : [...scope, ...symbols.slice(0, 1)];
  for (let line = from + 1; line <= to; line += 1) {
    const isFull = line - from >= bounds.lines || text.charactersOf(from, line + 1) > bounds.characters;
    if (line < to && !isFull) continue;
    const lines = text.slice(from, line);
    if (NOT_BLANK.test(lines)) {
      const isBefore = line <= definedAt;
      for (const part of boundedParts(lines, bounds)) {
        chunks.push({
          text: part,
          source,
          startLine: from + 1,
          endLine: line,
          symbols: isBefore ? NO_SYMBOLS : symbols,
          scope: isBefore ? inside : scope,
        });
        if (isBefore) continue;
        // Only the first of the other parts contains the definition itself; the rest is inside it.
        symbols = NO_SYMBOLS;
        scope = inside;
      }
    }
    from = line;
  }
}

/** Splits a text that is much larger than a chunk, without splitting characters; any other text stays whole. */
export function boundedParts(text: string, { characters }: ChunkBounds): string[] {
  if (text.length <= 2 * characters) return [text];
  const parts: string[] = [];
  for (let from = 0; from < text.length; ) {
    const last = from + characters - 1;
    const isPair = (text.codePointAt(last) ?? 0) > LAST_OF_ONE_UNIT;
    const to = isPair ? last + 2 : last + 1;
    parts.push(text.slice(from, to));
    from = to;
  }
  return parts;
}

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
