import type { Chunk } from '../chunks/chunk.ts';
import type { IndexedFile } from './indexedFile.ts';
import type { FolderHistory } from './folderHistory.ts';
import type { PathAnalyzer } from '../search/pathTerms.ts';
import { addMeaning, type FoundChunk, joinNear, type NearChunk } from '../search/nearChunks.ts';
import { type MentionedFile, mentionedFiles } from '../search/mentionedFiles.ts';
import { type RankedFile, rankFiles, rankPlaces, type Reasons } from '../search/rankFiles.ts';
import { wantedRoles } from '../search/roles.ts';
import { fileMentions } from '../search/fileMentions.ts';
import { holdsPhrases, PHRASE_GROWTH } from '../search/phrase.ts';
import { PathFilter } from '../search/pathFilter.ts';
import { parseQuery, type Query } from '../search/query.ts';
import type { SegmentSet } from '../search/segmentSet.ts';
import { type TermQuery, toTermQuery, withRelated } from '../search/termQuery.ts';
import { scanWords } from '../tokenizer/scanWords.ts';
import type { WordAnalyzer } from '../tokenizer/wordAnalyzer.ts';
import { applyCorrections, type Corrections, findCorrections } from './spelling.ts';

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
// Each is searched for by itself; more are pasted.
const MOST_PHRASES = 8;

/** A place in a file, 1-based and including the last line. */
interface Place {
  readonly startLine: number;
  readonly endLine: number;
  readonly score: number;
}

export interface IndexHit extends Pick<Chunk, 'text' | 'symbols' | 'scope'>, Place {
  readonly path: string;
  /** Other places of the file, best first; only if there is one result a file. */
  readonly more?: readonly Place[];
  readonly reasons?: Reasons;
}

export interface IndexSearchOptions {
  /** The chunks closest to the query, which gain by how close they are. */
  readonly near?: readonly NearChunk[] | undefined;
  /** Whether each chunk is a result, instead of each file. */
  readonly isByPlace?: boolean | undefined;
}

/** What a search needs of an index. */
interface SearchedIndex {
  readonly analyzer: WordAnalyzer;
  readonly paths: PathAnalyzer;
  readonly segments: SegmentSet;
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

/**
 * The best files of a folder, or the best chunks, with their current text. Misspelt words are corrected, and quoted phrases that the folder
 * does not contain are ignored if there are no hits otherwise.
 */
export function findHits(
  index: SearchedIndex,
  query: Query,
  options: IndexSearchOptions & { readonly limit: number },
): readonly IndexHit[] {
  const corrected = { ...query, text: applyCorrections(query.text, correctionsOf(query, index)) };
  const hits = hitsAsIs(corrected, options, index);
  if (hits.length > 0 || query.phrases.length === 0) return hits;
  const occurs = (phrase: string): boolean =>
    hitsAsIs({ ...query, phrases: [phrase], excluded: [], paths: PathFilter.ALL }, { limit: 1 }, index).length > 0;
  const phrases = query.phrases.slice(0, MOST_PHRASES).filter(occurs);
  if (phrases.length === query.phrases.length) return hits;
  return hitsAsIs({ ...corrected, phrases }, options, index);
}

/** The query with unknown words replaced by those they were probably meant to be; undefined if there are none. */
export function correctQuery(index: SearchedIndex, query: string, isTyping: boolean): string | undefined {
  const corrections = correctionsOf(parseQuery(query, { isTyping }), index);
  return corrections.size === 0 ? undefined : applyCorrections(query, corrections);
}

/**
 * A word that is still being typed is not corrected, unless no word begins with it. Names in paths are not corrected either if the folder
 * has one of the files, because the folders above it are those of another machine.
 */
function correctionsOf({ text, prefixes }: Query, index: SearchedIndex): Corrections {
  const { segments, analyzer } = index;
  const mentions = fileMentions(text);
  const isMentioned = mentions.length > 0 && mentionedFiles(mentions, pathsOf(index, PathFilter.ALL)).size > 0;
  const named = new Set<string>();
  if (isMentioned) for (const { names } of mentions) scanWords(names.join('/'), (word) => named.add(word));
  const isRight = (word: string): boolean =>
    (prefixes.includes(word) && segments.hasPrefix(word)) || named.has(word.toLowerCase());
  return findCorrections(text, analyzer, segments, isRight);
}

function hitsAsIs(
  query: Query,
  { limit, near = [], isByPlace = false }: IndexSearchOptions & { readonly limit: number },
  index: SearchedIndex,
): readonly IndexHit[] {
  const terms = withRelated(toTermQuery(query, index.analyzer));
  const accepted = near.filter(({ path }) => query.paths.accepts(path));
  const least = isByPlace ? (accepted.length === 0 ? 0 : MIXED_DEPTH) : Math.max(RANKED_DEPTH, DEPTH_PER_FILE * limit);
  let most = limit < 1 ? 0 : Math.max(limit, least);
  for (let tries = 1; ; ) {
    const matches = index.segments.topMatches(terms, most);
    const chunks = joinNear(matches, accepted, (path) => index.segments.source(path));
    const candidates = isByPlace ? rankedPlaces(chunks) : rankedFiles(chunks, { query, terms, index });
    const { hits, stale } = readHits(candidates, { terms: terms.terms, phrases: query.phrases, limit }, index);
    if (stale.length > 0 && tries < SEARCH_TRIES) {
      tries += 1;
      void index.update(stale);
      continue;
    }
    if (hits.length >= limit || matches.length < most || stale.length > 0) return isByPlace ? hits.map(alone) : hits;
    most *= PHRASE_GROWTH;
  }
}

function rankedPlaces(chunks: readonly FoundChunk[]): readonly Candidate[] {
  const best = Math.max(1, chunks[0]?.score ?? 0);
  return addMeaning(chunks, best).map((chunk) => ({ score: chunk.score, places: [chunk], isOrdered: true }));
}

function rankedFiles(
  chunks: readonly FoundChunk[],
  { query, terms, index }: { readonly query: Query; readonly terms: TermQuery; readonly index: SearchedIndex },
): readonly Candidate[] {
  const weights = index.segments.weigh(terms.terms);
  const roles = wantedRoles(query.text, !query.paths.acceptsAll);
  const defining = definingChunks(terms, index);
  const mentions = fileMentions(query.text);
  const mentioned = mentionedFiles(mentions, mentions.length === 0 ? [] : pathsOf(index, query.paths));
  const all = [...chunks, ...withoutMatches(mentioned, chunks, index)];
  const votes = index.history.votes(terms);
  const facts = { terms: terms.terms, weights, wanted: roles, defining, mentioned, votes };
  return rankFiles(all, facts, index.paths).map((file) => ({
    ...atLine(file, mentioned.get(file.path)?.line, index),
    isOrdered: file.reasons.definition > 0 || file.reasons.mention > 0,
  }));
}

/** The chunks that define what the whole query names: those with the same case of the first letter, otherwise those with another. */
function definingChunks(
  { definitions }: TermQuery,
  { segments }: SearchedIndex,
): ReadonlyMap<string, ReadonlySet<number>> {
  for (const fit of ['exact', 'other form'] as const) {
    const fitting = definitions.filter((definition) => definition.fit === fit);
    const matches = fitting.flatMap(({ term }) => segments.matchesOf(term, MOST_DEFINITIONS));
    if (matches.length === 0) continue;
    const byPath = Map.groupBy(matches, ({ source }) => source.path);
    return new Map([...byPath].map(([path, chunks]) => [path, new Set(chunks.map(({ ordinal }) => ordinal))]));
  }
  return new Map();
}

function* pathsOf(index: SearchedIndex, paths: PathFilter): Generator<string, void> {
  for (const { path, documentCount } of index.segments.sources())
    if (documentCount > 0 && paths.accepts(path)) yield path;
}

/** The files that the query mentions, and that contain none of its words. */
function withoutMatches(
  mentioned: ReadonlyMap<string, MentionedFile>,
  chunks: readonly FoundChunk[],
  index: SearchedIndex,
): readonly FoundChunk[] {
  if (mentioned.size === 0) return [];
  const matching = new Set(chunks.map(({ source }) => source.path));
  const others = [...mentioned.keys()].filter((path) => !matching.has(path));
  return others.flatMap((path) => chunkAt(path, undefined, index) ?? []);
}

/** The file with the place of a line first. */
function atLine(file: RankedFile, line: number | undefined, index: SearchedIndex): RankedFile {
  const place = line === undefined ? undefined : chunkAt(file.path, line, index);
  if (place === undefined) return file;
  const best = { ...place, score: file.places[0]?.score ?? 0 };
  return { ...file, places: [best, ...file.places.filter(({ ordinal }) => ordinal !== place.ordinal)] };
}

function chunkAt(path: string, line: number | undefined, { segments }: SearchedIndex): FoundChunk | undefined {
  const match = segments.matchAt(path, line);
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
  index: SearchedIndex,
): { readonly hits: IndexHit[]; readonly stale: readonly string[] } {
  const weights = index.segments.weigh(terms);
  const files = new Map<string, IndexedFile | undefined>();
  const stale = new Set<string>();
  const hits: IndexHit[] = [];
  for (const { score, places, reasons, isOrdered } of candidates) {
    if (hits.length >= limit) break;
    const path = places[0]?.source.path ?? '';
    if (!files.has(path)) files.set(path, index.fileAt(path));
    const file = files.get(path);
    const read = places.slice(0, phrases.length > 0 ? Infinity : MOST_PLACES).flatMap((place) => {
      const chunk = file?.source.hash === place.source.hash ? file.chunks[place.ordinal] : undefined;
      if (chunk === undefined) stale.add(path);
      return chunk !== undefined && holdsPhrases(chunk.text, phrases) ? [{ chunk, score: place.score }] : [];
    });
    const [best, ...others] = isOrdered ? read : rankPlaces(read, { terms, weights }, index.paths);
    if (best === undefined) continue;
    const { startLine, endLine, text, symbols, scope } = best.chunk;
    const more = others
      .filter((other) => other.score >= LEAST_OF_BEST * best.score)
      .slice(0, MOST_PLACES - 1)
      .map((other) => ({ startLine: other.chunk.startLine, endLine: other.chunk.endLine, score: other.score }));
    const why = reasons === undefined ? {} : { reasons };
    hits.push({ path, startLine, endLine, score, text, symbols, scope, more, ...why });
  }
  return { hits, stale: [...stale] };
}

function alone({ path, startLine, endLine, score, text, symbols, scope }: IndexHit): IndexHit {
  return { path, startLine, endLine, score, text, symbols, scope };
}
