/** A part of a document: what is ranked, shown and cited. */
export interface Chunk {
  readonly text: string;
  /** The file, relative to its folder and with '/', or the address that the text came from. */
  readonly source: string;
  /** From 1; the last line is included. */
  readonly startLine: number;
  readonly endLine: number;
  /** Names that the chunk defines: they weigh most in ranking. */
  readonly symbols: readonly string[];
  /** The definition or the headings around it, outermost first. */
  readonly scope: readonly string[];
}

export type ChunkMode = 'smart' | 'paragraphs' | 'sentences' | 'fixed';

/** How large a chunk can be. */
export interface ChunkBounds {
  readonly lines: number;
  readonly characters: number;
}

/** The bounds that `bench/ranking.ts --sweep` chose: larger chunks leave less in what a model is given, smaller ones rank worse. */
export const CHUNK_BOUNDS: ChunkBounds = { lines: 40, characters: 1000 };
