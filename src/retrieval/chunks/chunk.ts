/** A part of a document: the unit of ranking, display and citation. */
export interface Chunk {
  readonly text: string;
  /** The file, relative to its folder and with '/', or the URL of the text. */
  readonly source: string;
  /** 1-based, including the last line. */
  readonly startLine: number;
  readonly endLine: number;
  /** Names that the chunk defines, which have the highest weight in ranking. */
  readonly symbols: readonly string[];
  /** The enclosing definition or headings, outermost first. */
  readonly scope: readonly string[];
}

export type ChunkMode = 'smart' | 'paragraphs' | 'sentences' | 'fixed';

/** The maximum size of a chunk. */
export interface ChunkBounds {
  readonly lines: number;
  readonly characters: number;
}

/** The bounds selected by `bench/ranking.ts --sweep`: with larger chunks, fewer fit into a model's context; smaller ones rank worse. */
export const CHUNK_BOUNDS: ChunkBounds = { lines: 40, characters: 1000 };
