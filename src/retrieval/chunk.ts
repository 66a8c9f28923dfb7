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

/** Bounds of a chunk: 40 lines and 1,500 characters ranked best over several code bases. */
export const MAX_LINES = 40;
export const MAX_CHARACTERS = 1500;
