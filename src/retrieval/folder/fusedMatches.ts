import type { Reasons } from '../ranking/rankFiles.ts';
import type { SegmentSource } from '../segments/segment.ts';
import type { Match } from '../search/segmentSet.ts';
import type { ChunkLocation } from '../semantic/semanticRanking.ts';
import { fuseRankings } from '../semantic/rankFusion.ts';

/** Enough of each ranking that results which are good in both are among the first of the combination. */
export const FUSED_DEPTH = 100;

type RankedChunk = Pick<Match, 'source' | 'ordinal' | 'score'>;

interface RankedPlaces {
  readonly score: number;
  readonly reasons?: Reasons | undefined;
  readonly places: readonly RankedChunk[];
}

/** The keyword ranking combined with a semantic one, of which only results in unchanged files count. */
export function fuseMatches(
  matches: readonly Match[],
  near: readonly ChunkLocation[],
  sourceOf: (path: string) => SegmentSource | undefined,
): readonly RankedChunk[] {
  if (near.length === 0) return matches;
  const semantic = chunksAt(near, sourceOf);
  const fused = fuseRankings<RankedChunk>([matches, semantic], ({ source, ordinal }) => `${ordinal} ${source.path}`);
  return fused.map(({ item, score }) => ({ ...item, score }));
}

/** The same for a ranking of files: a file is as near as its nearest chunk. The chunks of each are fused, too. */
export function fuseFiles(
  files: readonly RankedPlaces[],
  near: readonly ChunkLocation[],
  sourceOf: (path: string) => SegmentSource | undefined,
): readonly RankedPlaces[] {
  const semantic = [...Map.groupBy(chunksAt(near, sourceOf), ({ source }) => source.path).values()];
  const nearIn = new Map(semantic.map((places) => [pathOf(places), places]));
  const fused = fuseRankings<RankedPlaces>([files, semantic.map((places) => ({ score: 0, places }))], ({ places }) =>
    pathOf(places),
  );
  return fused.map(({ item, score }) => {
    const rankings = [item.places, nearIn.get(pathOf(item.places)) ?? []];
    const places = fuseRankings(rankings, ({ ordinal }) => String(ordinal));
    return { ...item, score, places: places.map((place) => ({ ...place.item, score: place.score })) };
  });
}

function chunksAt(
  near: readonly ChunkLocation[],
  sourceOf: (path: string) => SegmentSource | undefined,
): readonly RankedChunk[] {
  return near.flatMap(({ path, hash, ordinal }): RankedChunk[] => {
    const source = sourceOf(path);
    return source?.hash === hash ? [{ source, ordinal, score: 0 }] : [];
  });
}

function pathOf(places: readonly RankedChunk[]): string {
  return places[0]?.source.path ?? '';
}
