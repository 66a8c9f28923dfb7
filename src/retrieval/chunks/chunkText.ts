import { packBlocks, partsOf } from './block.ts';
import { CHUNK_BOUNDS, type Chunk, type ChunkBounds, type ChunkMode } from './chunk.ts';
import { definitionBlocks } from './definitions.ts';
import { cellBlocks, keyBlocks, paragraphBlocks, sectionBlocks } from './sections.ts';
import { TextLines } from './textLines.ts';

const MARKDOWN = /\.(?:md|mdx|markdown)$/i;
const DATA = /\.(?:json|jsonc|ya?ml|toml)$/i;
const NOTEBOOK = /\.ipynb$/i;
const CODE =
  /\.(?:[cm]?[jt]sx?|py|pyi|go|rs|java|kt|kts|scala|c|h|cc|cpp|hpp|cs|swift|rb|php|pl|lua|jl|r|sh|bash|zsh|ps1|sql|vue|svelte|zig|dart|ex|exs|hs|ml|m|f90)$/i;

/**
 * Splits text into chunks within bounds: the number of lines is a hard limit, that of characters may be exceeded by long lines.
 *
 * `smart` depends on the type of the source: code is split at definitions, Markdown at headings, notebooks at cells, data at top-level
 * keys, other text at paragraphs. `paragraphs` splits at blank lines, `sentences` between sentences, `fixed` wherever a chunk is full.
 */
export function chunkText(text: string, source: string, mode: ChunkMode, bounds: ChunkBounds = CHUNK_BOUNDS): Chunk[] {
  const lines = new TextLines(text);
  if (mode === 'sentences') return sentenceChunks(lines, source, bounds);
  return packBlocks(lines, blocksOf(lines, source, mode), source, bounds);
}

function blocksOf(lines: TextLines, source: string, mode: 'smart' | 'paragraphs' | 'fixed') {
  if (mode === 'fixed') return [{ from: 0, to: lines.count, symbols: [], scope: [], isApart: false }];
  if (mode === 'paragraphs') return paragraphBlocks(lines.all());
  if (MARKDOWN.test(source)) return sectionBlocks(lines.all());
  if (NOTEBOOK.test(source)) return cellBlocks(lines.all());
  if (DATA.test(source)) return keyBlocks(lines.all());
  return CODE.test(source) ? definitionBlocks(lines) : paragraphBlocks(lines.all());
}

function sentenceChunks({ text }: TextLines, source: string, bounds: ChunkBounds): Chunk[] {
  const sentences = [...new Intl.Segmenter('en', { granularity: 'sentence' }).segment(text)];
  const chunks: Chunk[] = [];
  let [open, startLine, line] = ['', 1, 1];
  const close = (): void => {
    const trimmed = open.trim();
    if (trimmed !== '') {
      const first = startLine + countLines(open.slice(0, open.length - open.trimStart().length));
      chunks.push({
        text: trimmed,
        source,
        startLine: first,
        endLine: first + countLines(trimmed),
        symbols: [],
        scope: [],
      });
    }
    [open, startLine] = ['', line];
  };
  for (const part of sentences.flatMap(({ segment }) => partsOf(segment, bounds))) {
    if (open.length + part.length > bounds.characters) close();
    open += part;
    line += countLines(part);
  }
  close();
  return chunks;
}

function countLines(text: string): number {
  return text.match(/\n/g)?.length ?? 0;
}
