import type { Chunk, ChunkBounds } from './chunk.ts';
import type { TextLines } from './textLines.ts';

const NOT_BLANK = /\S/;

/** Lines that belong together: a definition, a section, a paragraph. `from` counts from 0, `to` is behind the last line. */
export interface Block {
  readonly from: number;
  readonly to: number;
  readonly symbols: readonly string[];
  readonly scope: readonly string[];
  /** Whether it starts a chunk of its own even where it would fit behind the one before. */
  readonly isApart: boolean;
}

/** Packs blocks into chunks within the bounds; a block that is larger is cut at lines, and a line that is larger at characters. */
export function packBlocks(text: TextLines, blocks: readonly Block[], source: string, bounds: ChunkBounds): Chunk[] {
  const chunks: Chunk[] = [];
  let open: Block | undefined;
  const close = (): void => {
    if (open !== undefined) chunks.push(...cut(text, open, source, bounds));
    open = undefined;
  };
  for (const block of blocks) {
    if (open !== undefined && !block.isApart && fits(text, open.from, block.to, bounds)) {
      open = { ...open, to: block.to, symbols: [...open.symbols, ...block.symbols] };
    } else {
      close();
      open = block;
    }
  }
  close();
  return chunks;
}

function fits(text: TextLines, from: number, to: number, bounds: ChunkBounds): boolean {
  return to - from <= bounds.lines && text.charactersOf(from, to) <= bounds.characters;
}

function cut(text: TextLines, block: Block, source: string, bounds: ChunkBounds): Chunk[] {
  const chunks: Chunk[] = [];
  let { from } = block;
  const emit = (to: number): void => {
    const own = text.slice(from, to);
    if (NOT_BLANK.test(own)) chunks.push(...cutCharacters(own, { ...block, from, to }, source, bounds.characters));
    from = to;
  };
  for (let line = block.from + 1; line < block.to; line += 1) {
    if (line - from >= bounds.lines || text.charactersOf(from, line + 1) > bounds.characters) emit(line);
  }
  emit(block.to);
  // Only the first part holds the definition itself; the others are inside it.
  return chunks.map((chunk, index) =>
    index === 0 ? chunk : { ...chunk, symbols: [], scope: [...block.scope, ...block.symbols.slice(0, 1)] },
  );
}

function cutCharacters(text: string, { from, to, symbols, scope }: Block, source: string, most: number): Chunk[] {
  const place = { source, startLine: from + 1, endLine: to, symbols, scope };
  if (text.length <= 2 * most) return [{ text, ...place }];
  const count = Math.ceil(text.length / most);
  return Array.from({ length: count }, (_, index) => ({
    text: text.slice(index * most, (index + 1) * most),
    ...place,
  }));
}
