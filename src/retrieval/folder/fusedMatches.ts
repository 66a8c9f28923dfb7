import type { SegmentSource } from '../segments/segment.ts';
import type { Match } from '../search/segmentSet.ts';
import type { ChunkLocation } from '../semantic/semanticRanking.ts';
import { fuseRankings } from '../semantic/rankFusion.ts';

/** Enough of each ranking that results which are good in both are among the first of the combination. */
export const FUSED_DEPTH = 100;

type RankedChunk = Pick<Match, 'source' | 'ordinal' | 'score'>;

/** The keyword ranking combined with a semantic one, of which only results in unchanged files count. */
export function fuseMatches(
  matches: readonly Match[],
  near: readonly ChunkLocation[],
  sourceOf: (path: string) => SegmentSource | undefined,
): readonly RankedChunk[] {
  if (near.length === 0) return matches;
  const semantic = near.flatMap(({ path, hash, ordinal }): RankedChunk[] => {
    const source = sourceOf(path);
    return source?.hash === hash ? [{ source, ordinal, score: 0 }] : [];
  });
  const fused = fuseRankings<RankedChunk>([matches, semantic], ({ source, ordinal }) => `${ordinal} ${source.path}`);
  return fused.map(({ item, score }) => ({ ...item, score }));
}
