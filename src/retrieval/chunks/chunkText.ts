import { type Block, packBlocks, boundedParts, TextLines } from './block.ts';
import { CHUNK_BOUNDS, type Chunk, type ChunkBounds, type ChunkMode } from './chunk.ts';
import { definitionBlocks } from './definitions.ts';
import { type Language, LANGUAGES, languageOf, languageOfScript } from './languages.ts';
import { cellBlocks, keyBlocks, paragraphBlocks, sectionBlocks } from './sectionBlocks.ts';

const SPLITTERS: Readonly<Record<Language['splitAt'], (lines: TextLines, language?: Language) => Block[]>> = {
  definitions: definitionBlocks,
  headings: (lines) => sectionBlocks(lines.all()),
  cells: (lines) => cellBlocks(lines.all()),
  keys: (lines) => keyBlocks(lines.all()),
  paragraphs: (lines) => paragraphBlocks(lines.all()),
};

/**
 * Splits text into chunks within bounds: the number of lines is a hard limit, that of characters may be exceeded by long lines.
 *
 * `smart` splits where the row of the source's language in `languages` says, and text of no language at paragraphs. `paragraphs` splits at blank lines, `sentences` between sentences, `fixed` wherever a chunk is full.
 */
export function chunkText(
  text: string,
  source: string,
  mode: ChunkMode,
  bounds: ChunkBounds = CHUNK_BOUNDS,
  languages: readonly Language[] = LANGUAGES,
): Chunk[] {
  const lines = new TextLines(text);
  if (mode === 'sentences') return sentenceChunks(lines, source, bounds);
  if (mode === 'fixed') {
    const all = { from: 0, to: lines.count, symbols: [], definedAt: 0, scope: [], isApart: false };
    return packBlocks(lines, [all], source, bounds);
  }
  const language = mode === 'smart' ? (languageOf(source, languages) ?? languageOfScript(text, languages)) : undefined;
  return packBlocks(lines, SPLITTERS[language?.splitAt ?? 'paragraphs'](lines, language), source, bounds);
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
  for (const part of sentences.flatMap(({ segment }) => boundedParts(segment, bounds))) {
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
