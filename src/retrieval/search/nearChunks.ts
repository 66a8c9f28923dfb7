import type { Match } from './segmentSet.ts';
import type { SegmentSource } from '../segments/segment.ts';
import { BLEND } from './weights.ts';

/** A chunk close to a query. */
export interface NearChunk {
  readonly path: string;
  /** The hash of the file's bytes from which it was cut. */
  readonly hash: string;
  /** The index of the chunk in the file, from 0. */
  readonly ordinal: number;
  /** By how many standard deviations its similarity is above the mean of all chunks, which compares across models and folders. */
  readonly standardScore: number;
}

/** A chunk that contains words of a query, or is semantically close to it. */
export interface FoundChunk extends Pick<Match, 'source' | 'ordinal' | 'score' | 'terms'> {
  /** By how many standard deviations it is closer to the query than the mean; 0 if that is unknown. */
  readonly closeness: number;
}

/** The chunks that contain words of a query, best first, then those that are only semantically close, without those in changed files. */
export function joinNear(
  matches: readonly Match[],
  near: readonly NearChunk[],
  sourceOf: (path: string) => SegmentSource | undefined,
): readonly FoundChunk[] {
  const left = new Map(near.map((chunk) => [keyOf(chunk.path, chunk.ordinal), chunk]));
  const matching = matches.map((match): FoundChunk => {
    const key = keyOf(match.source.path, match.ordinal);
    const chunk = left.get(key);
    if (chunk?.hash !== match.source.hash) return { ...match, closeness: 0 };
    left.delete(key);
    return { ...match, closeness: closenessOf(chunk) };
  });
  const others = [...left.values()].flatMap((chunk): FoundChunk[] => {
    const source = sourceOf(chunk.path);
    if (source?.hash !== chunk.hash) return [];
    return [{ source, ordinal: chunk.ordinal, score: 0, terms: 0, closeness: closenessOf(chunk) }];
  });
  return [...matching, ...others];
}

/** Adds to the score of each chunk what its closeness is worth, relative to `best`, the best keyword score; sorts them, best first. */
export function addMeaning(chunks: readonly FoundChunk[], best: number, weight = BLEND.meaning): readonly FoundChunk[] {
  return chunks
    .map((chunk) => ({ ...chunk, score: chunk.score + best * weight * chunk.closeness }))
    .sort((a, b) => b.score - a.score);
}

function closenessOf({ standardScore }: NearChunk): number {
  return Math.max(0, standardScore);
}

function keyOf(path: string, ordinal: number): string {
  return `${ordinal} ${path}`;
}
