import type { Chunk } from '../../src/retrieval/chunks/chunk.ts';

/** A question, and what answers it: for each answer the numbers of the chunks that hold it. */
interface SetQuery {
  readonly text: string;
  readonly answers: readonly (readonly number[])[];
}

/** Chunks and questions about them with known answers. */
export interface QuerySet {
  readonly name: string;
  /** What it is made of: files, size, date. */
  readonly about: string;
  readonly chunks: readonly Chunk[];
  readonly queries: readonly SetQuery[];
}
