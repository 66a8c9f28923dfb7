import type { SegmentSource } from '../segments/segment.ts';
import type { Match } from '../search/segmentSet.ts';
import type { ChunkPlace } from '../semantic/meaning.ts';
import { fuseRankings } from '../semantic/rankFusion.ts';

/** Enough of each ranking for what is good in both to be among the first of the two together. */
export const FUSED_DEPTH = 100;

type RankedChunk = Pick<Match, 'source' | 'ordinal' | 'score'>;

/** The ranking by words joined with one by meaning, of which places count whose file is as the index knows it. */
export function fuseMatches(
  matches: readonly Match[],
  near: readonly ChunkPlace[],
  sourceOf: (path: string) => SegmentSource | undefined,
): readonly RankedChunk[] {
  if (near.length === 0) return matches;
  const places = near.flatMap(({ path, hash, ordinal }): RankedChunk[] => {
    const source = sourceOf(path);
    return source?.hash === hash ? [{ source, ordinal, score: 0 }] : [];
  });
  const fused = fuseRankings<RankedChunk>([matches, places], ({ source, ordinal }) => `${ordinal} ${source.path}`);
  return fused.map(({ item, score }) => ({ ...item, score }));
}
