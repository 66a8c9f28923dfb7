import type { Chunk } from '../chunks/chunk.ts';
import type { IndexedFile } from '../building/indexedFile.ts';
import type { FolderHistory } from '../history/folderHistory.ts';
import type { PathAnalyzer } from '../ranking/pathTerms.ts';
import { addMeaning, type FoundChunk, joinNear, type NearChunk } from '../ranking/nearChunks.ts';
import { type MentionedFile, mentionedFiles } from '../ranking/mentionedFiles.ts';
import { type RankedFile, rankFiles, type Reasons } from '../ranking/rankFiles.ts';
import { rankPlaces } from '../ranking/rankPlaces.ts';
import { wantedRoles } from '../ranking/wantedRoles.ts';
import { fileMentions } from '../search/fileMentions.ts';
import { holdsPhrases, PHRASE_GROWTH } from '../search/phrase.ts';
import type { Query } from '../search/query.ts';
import type { SegmentSet } from '../search/segmentSet.ts';
import type { TermQuery } from '../search/termQuery.ts';

// Files may change between the search and the reading of the results; then they are indexed and the search is repeated.
const SEARCH_TRIES = 3;
// The best chunks whose files are ranked, and how many more that are for more results. With fewer, files whose names match are missed;
// twice as many do not rank better, and take a fifth longer.
const RANKED_DEPTH = 250;
const DEPTH_PER_FILE = 5;
// Enough places by keywords to include those that rank well in both respects.
const MIXED_DEPTH = 100;
// Other places of a file are listed if they reach this fraction of its best score.
const LEAST_OF_BEST = 0.3;
const MOST_PLACES = 6;
// A name with more definitions says too little to prefer them.
const MOST_DEFINITIONS = 200;

/** A place in a file, 1-based and including the last line. */
interface Place {
  readonly startLine: number;
  readonly endLine: number;
  readonly score: number;
}

export interface FolderHit extends Pick<Chunk, 'text' | 'symbols' | 'scope'>, Place {
  readonly path: string;
  /** Other places of the file, best first; only if there is one result a file. */
  readonly more?: readonly Place[];
  readonly reasons?: Reasons;
}

export interface FolderSearchOptions {
  /** The chunks closest to the query, which gain by how close they are. */
  readonly near?: readonly NearChunk[] | undefined;
  /** Whether each chunk is a result, instead of each file. */
  readonly isByPlace?: boolean | undefined;
}

export interface SearchedFolder {
  readonly paths: PathAnalyzer;
  readonly set: SegmentSet;
  readonly history: Pick<FolderHistory, 'votes'>;
  fileAt(path: string): IndexedFile | undefined;
  update(paths: readonly string[]): Promise<void>;
}

interface Candidate {
  readonly score: number;
  readonly reasons?: Reasons | undefined;
  readonly places: readonly FoundChunk[];
  /** Whether the places are already in their final order, which depends on more than their keyword scores. */
  readonly isOrdered: boolean;
}

/** The best files of a folder, or the best chunks, with their current text. */
export function searchFolder(
  query: Query,
  terms: TermQuery,
  { limit, near = [], isByPlace = false }: FolderSearchOptions & { readonly limit: number },
  folder: SearchedFolder,
): readonly FolderHit[] {
  const wanted = near.filter(({ path }) => query.paths.accepts(path));
  const least = isByPlace ? (wanted.length === 0 ? 0 : MIXED_DEPTH) : Math.max(RANKED_DEPTH, DEPTH_PER_FILE * limit);
  let most = limit < 1 ? 0 : Math.max(limit, least);
  for (let tries = 1; ; ) {
    const found = folder.set.search(terms, most);
    const chunks = joinNear(found, wanted, (path) => folder.set.source(path));
    const candidates = isByPlace ? rankedPlaces(chunks) : rankedFiles(chunks, { query, terms, folder });
    const { hits, stale } = readHits(candidates, { terms: terms.terms, phrases: query.phrases, limit }, folder);
    if (stale.length > 0 && tries < SEARCH_TRIES) {
      tries += 1;
      void folder.update(stale);
      continue;
    }
    if (hits.length >= limit || found.length < most || stale.length > 0) return isByPlace ? hits.map(alone) : hits;
    most *= PHRASE_GROWTH;
  }
}

function rankedPlaces(chunks: readonly FoundChunk[]): readonly Candidate[] {
  const best = Math.max(1, chunks[0]?.score ?? 0);
  return addMeaning(chunks, best).map((chunk) => ({ score: chunk.score, places: [chunk], isOrdered: true }));
}

function rankedFiles(
  chunks: readonly FoundChunk[],
  { query, terms, folder }: { readonly query: Query; readonly terms: TermQuery; readonly folder: SearchedFolder },
): readonly Candidate[] {
  const weights = folder.set.weigh(terms.terms);
  const wanted = wantedRoles(query.text, !query.paths.acceptsAll);
  const defining = definingChunks(terms, folder);
  const mentions = fileMentions(query.text);
  const mentioned = mentionedFiles(mentions, mentions.length === 0 ? [] : pathsOf(folder, query));
  const all = [...chunks, ...unfound(mentioned, chunks, folder)];
  const votes = folder.history.votes(terms);
  const facts = { terms: terms.terms, weights, wanted, defining, mentioned, votes };
  return rankFiles(all, facts, folder.paths).map((file) => ({
    ...atLine(file, mentioned.get(file.path)?.line, folder),
    isOrdered: file.reasons.definition > 0 || file.reasons.mention > 0,
  }));
}

/** The chunks that define what the whole query names: those with the same case of the first letter, otherwise those with another. */
function definingChunks({ definitions }: TermQuery, { set }: SearchedFolder): ReadonlyMap<string, ReadonlySet<number>> {
  for (const fit of ['exact', 'other form'] as const) {
    const own = definitions.filter((definition) => definition.fit === fit);
    const matches = own.flatMap(({ term }) => set.matchesOf(term, MOST_DEFINITIONS));
    if (matches.length === 0) continue;
    const byPath = Map.groupBy(matches, ({ source }) => source.path);
    return new Map([...byPath].map(([path, chunks]) => [path, new Set(chunks.map(({ ordinal }) => ordinal))]));
  }
  return new Map();
}

function* pathsOf(folder: SearchedFolder, { paths }: Query): Generator<string, void> {
  for (const { path, documentCount } of folder.set.sources()) if (documentCount > 0 && paths.accepts(path)) yield path;
}

/** The files that the query mentions, and that contain none of its words. */
function unfound(
  mentioned: ReadonlyMap<string, MentionedFile>,
  chunks: readonly FoundChunk[],
  folder: SearchedFolder,
): readonly FoundChunk[] {
  if (mentioned.size === 0) return [];
  const known = new Set(chunks.map(({ source }) => source.path));
  const others = [...mentioned.keys()].filter((path) => !known.has(path));
  return others.flatMap((path) => chunkAt(path, undefined, folder) ?? []);
}

/** The file with the place of a line first. */
function atLine(file: RankedFile, line: number | undefined, folder: SearchedFolder): RankedFile {
  const place = line === undefined ? undefined : chunkAt(file.path, line, folder);
  if (place === undefined) return file;
  const best = { ...place, score: file.places[0]?.score ?? 0 };
  return { ...file, places: [best, ...file.places.filter(({ ordinal }) => ordinal !== place.ordinal)] };
}

function chunkAt(path: string, line: number | undefined, { set }: SearchedFolder): FoundChunk | undefined {
  const match = set.matchAt(path, line);
  return match === undefined ? undefined : { ...match, closeness: 0 };
}

/**
 * The best candidates with the current text of their best places, which is checked for the phrases. `stale` lists the files that have
 * changed since they were indexed; they have no hits.
 */
function readHits(
  candidates: readonly Candidate[],
  {
    terms,
    phrases,
    limit,
  }: { readonly terms: readonly string[]; readonly phrases: readonly string[]; readonly limit: number },
  folder: SearchedFolder,
): { readonly hits: FolderHit[]; readonly stale: readonly string[] } {
  const weights = folder.set.weigh(terms);
  const files = new Map<string, IndexedFile | undefined>();
  const stale = new Set<string>();
  const hits: FolderHit[] = [];
  for (const { score, places, reasons, isOrdered } of candidates) {
    if (hits.length >= limit) break;
    const path = places[0]?.source.path ?? '';
    if (!files.has(path)) files.set(path, folder.fileAt(path));
    const file = files.get(path);
    const read = places.slice(0, phrases.length > 0 ? Infinity : MOST_PLACES).flatMap((place) => {
      const chunk = file?.source.hash === place.source.hash ? file.chunks[place.ordinal] : undefined;
      if (chunk === undefined) stale.add(path);
      return chunk !== undefined && holdsPhrases(chunk.text, phrases) ? [{ chunk, score: place.score }] : [];
    });
    const [best, ...others] = isOrdered ? read : rankPlaces(read, { terms, weights }, folder.paths);
    if (best === undefined) continue;
    const { startLine, endLine, text, symbols, scope } = best.chunk;
    const more = others
      .filter((other) => other.score >= LEAST_OF_BEST * best.score)
      .slice(0, MOST_PLACES - 1)
      .map(({ chunk, score: own }) => ({ startLine: chunk.startLine, endLine: chunk.endLine, score: own }));
    const why = reasons === undefined ? {} : { reasons };
    hits.push({ path, startLine, endLine, score, text, symbols, scope, more, ...why });
  }
  return { hits, stale: [...stale] };
}

function alone({ path, startLine, endLine, score, text, symbols, scope }: FolderHit): FolderHit {
  return { path, startLine, endLine, score, text, symbols, scope };
}
