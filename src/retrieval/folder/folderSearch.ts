import type { Chunk } from '../chunks/chunk.ts';
import { FUSED_DEPTH, fuseMatches } from './fusedMatches.ts';
import type { IndexedFile } from '../building/indexedFile.ts';
import { holdsPhrases, PHRASE_GROWTH } from '../search/phrase.ts';
import type { Query } from '../search/query.ts';
import type { SegmentSource } from '../segments/segment.ts';
import type { Match } from '../search/segmentSet.ts';
import type { TermQuery } from '../search/termQuery.ts';
import type { ChunkLocation } from '../semantic/semanticRanking.ts';

// Files may change between the search and the reading of the results; then they are indexed and the search is repeated.
const SEARCH_TRIES = 3;

export interface FolderHit extends Pick<Chunk, 'text' | 'symbols' | 'scope'> {
  readonly path: string;
  readonly startLine: number;
  readonly endLine: number;
  readonly score: number;
}

interface SearchedFolder {
  match(query: TermQuery, limit: number): readonly Match[];
  source(path: string): SegmentSource | undefined;
  fileAt(path: string): IndexedFile | undefined;
  update(paths: readonly string[]): Promise<void>;
}

/** The best chunks of a folder with their current text; `near` is a semantic ranking with the same weight. */
export function searchFolder(
  query: Query,
  terms: TermQuery,
  { limit, near }: { readonly limit: number; readonly near: readonly ChunkLocation[] },
  folder: SearchedFolder,
): readonly FolderHit[] {
  const wanted = near.filter(({ path }) => query.paths.accepts(path));
  let most = wanted.length === 0 ? limit : Math.max(limit, FUSED_DEPTH);
  for (let tries = 1; ; ) {
    const found = folder.match(terms, most);
    const matches = fuseMatches(found, wanted, (path) => folder.source(path));
    const { hits, stale } = readHits(matches, query.phrases, folder);
    if (stale.length > 0 && tries < SEARCH_TRIES) {
      tries += 1;
      void folder.update(stale);
      continue;
    }
    if (hits.length >= limit || found.length < most || stale.length > 0) return hits.slice(0, limit);
    most *= PHRASE_GROWTH;
  }
}

/**
 * Adds the current text of the files to the matches, and checks it for the phrases. `stale` lists the files that have changed since
 * they were indexed; they have no hits.
 */
function readHits(
  matches: readonly Pick<Match, 'source' | 'ordinal' | 'score'>[],
  phrases: readonly string[],
  folder: SearchedFolder,
): { readonly hits: FolderHit[]; readonly stale: readonly string[] } {
  const files = new Map<string, IndexedFile | undefined>();
  const stale = new Set<string>();
  const hits: FolderHit[] = [];
  for (const { source, ordinal, score } of matches) {
    const { path } = source;
    if (!files.has(path)) files.set(path, folder.fileAt(path));
    const file = files.get(path);
    const chunk = file?.source.hash === source.hash ? file.chunks[ordinal] : undefined;
    if (chunk === undefined) stale.add(path);
    else if (holdsPhrases(chunk.text, phrases)) {
      const { startLine, endLine, text, symbols, scope } = chunk;
      hits.push({ path, startLine, endLine, score, text, symbols, scope });
    }
  }
  return { hits, stale: [...stale] };
}
