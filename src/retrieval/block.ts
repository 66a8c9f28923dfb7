import type { Chunk, ChunkBounds } from './chunk.ts';

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
export function packBlocks(
  lines: readonly string[],
  blocks: readonly Block[],
  source: string,
  bounds: ChunkBounds,
): Chunk[] {
  const chunks: Chunk[] = [];
  let open: Block | undefined;
  const close = (): void => {
    if (open !== undefined) chunks.push(...cut(lines, open, source, bounds));
    open = undefined;
  };
  for (const block of blocks) {
    if (open !== undefined && !block.isApart && fits(lines, open.from, block.to, bounds)) {
      open = { ...open, to: block.to, symbols: [...open.symbols, ...block.symbols] };
    } else {
      close();
      open = block;
    }
  }
  close();
  return chunks;
}

function fits(lines: readonly string[], from: number, to: number, bounds: ChunkBounds): boolean {
  if (to - from > bounds.lines) return false;
  let characters = 0;
  for (let line = from; line < to; line += 1) characters += (lines[line]?.length ?? 0) + 1;
  return characters <= bounds.characters;
}

function cut(lines: readonly string[], block: Block, source: string, bounds: ChunkBounds): Chunk[] {
  const chunks: Chunk[] = [];
  let [from, characters] = [block.from, 0];
  const emit = (to: number): void => {
    const text = lines.slice(from, to).join('\n');
    if (text.trim() !== '') chunks.push(...cutCharacters(text, { ...block, from, to }, source, bounds.characters));
    [from, characters] = [to, 0];
  };
  for (let line = block.from; line < block.to; line += 1) {
    const length = (lines[line]?.length ?? 0) + 1;
    const isFull = line - from >= bounds.lines || characters + length > bounds.characters;
    if (isFull && line > from) emit(line);
    characters += length;
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
