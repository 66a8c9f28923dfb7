import type { FileRole } from './roles.ts';

/** How signals make up the score of a file. */
export interface Blend {
  /** The parts of a file's chunks in its keyword score, best chunk first. */
  readonly coherence: readonly number[];
  /** The parts of the best keyword score that a file gains if all words of the query are its name, or that of the folder around it. */
  readonly name: number;
  readonly folder: number;
  /** `name`, if the query names a definition, which says more about where to look. */
  readonly nameBesideDefinition: number;
  /** The part of the best keyword score that a file gains if it defines what the query names. */
  readonly definition: number;
  /** The part of the best keyword score that a file gains if the query mentions its path. */
  readonly mention: number;
  /** The part of the best keyword score that the file gains for which past commits speak most. */
  readonly history: number;
  /** The part of the best keyword score that a chunk gains for each standard deviation by which it is closer to the query than the mean. */
  readonly meaning: number;
  /** The part of a file's best score that a place gains in the order of its places if its definition has the words of the query as its name. */
  readonly symbol: number;
  /** What the score of a file is multiplied by. */
  readonly roles: Readonly<Record<FileRole, number>>;
}

/** Chosen with the figures of `bench/fileRanking.ts` on its development repositories, rounded; `symbol` with those of `bench/docstrings.ts`. */
export const BLEND: Blend = {
  coherence: [1, 0.5, 0.33],
  name: 2.75,
  folder: 1,
  nameBesideDefinition: 0.75,
  definition: 1,
  mention: 6,
  history: 0.25,
  meaning: 0.1,
  symbol: 2,
  roles: {
    source: 1,
    test: 0.4,
    documentation: 0.4,
    example: 0.4,
    generated: 0.2,
    vendored: 0.3,
    configuration: 0.6,
    lock: 0.1,
    data: 0.5,
    legacy: 0.5,
    exports: 0.6,
    header: 0.8,
  },
};
