import { type Blend, BLEND } from './weights.ts';
import { addMeaning, type FoundChunk } from './nearChunks.ts';
import type { MentionedFile } from './mentionedFiles.ts';
import { likeness, type PathAnalyzer, raritiesIn } from './pathTerms.ts';
import { MOST_BITS } from './queryTerms.ts';
import { type FileRole, headersOf } from './roles.ts';
import type { Chunk } from '../chunks/chunk.ts';

/** A file of a ranking. */
export interface RankedFile {
  readonly path: string;
  readonly score: number;
  readonly reasons: Reasons;
  /** Its chunks, best first. */
  readonly places: readonly FoundChunk[];
}

/** The parts of a file's score: the sum of the signals, multiplied by the factor of its role. */
export interface Reasons {
  readonly keywords: number;
  readonly name: number;
  readonly folder: number;
  /** Of the definition that the query names. */
  readonly definition: number;
  /** Of a path in the query. */
  readonly mention: number;
  /** Of past commits whose messages fit the query. */
  readonly history: number;
  /** Of the closeness of its closest chunk to the query. */
  readonly meaning: number;
  readonly role: FileRole;
  readonly factor: number;
}

interface RankingQuery {
  readonly terms: readonly string[];
  /** The weight of each term. */
  readonly weights: readonly number[];
  readonly wanted: ReadonlySet<FileRole>;
  /** The chunks that define what the whole query names, by their paths. */
  readonly defining: ReadonlyMap<string, ReadonlySet<number>>;
  readonly mentioned: ReadonlyMap<string, MentionedFile>;
  /** How much past commits speak for each file, from 0 to 1. */
  readonly votes: ReadonlyMap<string, number>;
}

interface Place {
  readonly chunk: Pick<Chunk, 'symbols' | 'scope'>;
  readonly score: number;
}

interface PlaceQuery {
  readonly terms: readonly string[];
  /** The weight of each term. */
  readonly weights: readonly number[];
}

/** Ranks the files of chunks that are sorted by score, best first; equal scores in the order of their best chunks. */
export function rankFiles(
  chunks: readonly FoundChunk[],
  { terms, weights, wanted, defining, mentioned, votes }: RankingQuery,
  paths: PathAnalyzer,
  blend: Blend = BLEND,
): readonly RankedFile[] {
  const { coherence, roles } = blend;
  const nameWeight = defining.size > 0 ? blend.nameBesideDefinition : blend.name;
  // The query names exactly this definition.
  const meaningWeight = defining.size > 0 ? 0 : blend.meaning;
  const files = [...Map.groupBy(chunks, ({ source }) => source.path)].map(([path, places]) => {
    const parts = coherence.map((part, at) => part * (places[at]?.score ?? 0));
    return { path, places, keywords: coverageOf(places, terms) * parts.reduce((sum, part) => sum + part, 0) };
  });
  const names = files.map(({ path }) => paths.analyze(path).name);
  const rarities = raritiesIn(terms, names);
  const best = files.reduce((most, { keywords }) => Math.max(most, keywords), 0);
  const most = Math.max(1, best);
  const headers = headersOf(files.map(({ path }) => path));
  return files
    .map(({ path, places, keywords }): RankedFile => {
      const { role: pathRole, ...parts } = paths.analyze(path);
      const role = pathRole === 'source' ? sourceRole(places, headers) : pathRole;
      const name = best * nameWeight * likeness({ terms, weights, rarities }, parts.name);
      const folder = best * blend.folder * likeness({ terms, weights }, parts.folder);
      const definedHere = defining.get(path);
      const definition = definedHere === undefined ? 0 : best * blend.definition;
      const fit = mentioned.get(path)?.fit ?? 0;
      const mention = most * blend.mention * fit;
      const history = best * blend.history * (votes.get(path) ?? 0);
      const meaning = most * meaningWeight * Math.max(...places.map(({ closeness }) => closeness));
      const factor = fit > 0 || wanted.has(role) ? 1 : roles[role];
      const reasons = { keywords, name, folder, definition, mention, history, meaning, role, factor };
      const score = factor * (keywords + name + folder + definition + mention + history + meaning);
      const ordered = meaning > 0 ? addMeaning(places, most, meaningWeight) : places;
      return {
        path,
        places: definedHere === undefined ? ordered : definitionsFirst(ordered, definedHere),
        reasons,
        score,
      };
    })
    .sort((a, b) => b.score - a.score);
}

function sourceRole(places: readonly FoundChunk[], headers: ReadonlySet<string>): FileRole {
  const source = places[0]?.source;
  if (source?.status === 'generated') return 'generated';
  return source !== undefined && headers.has(source.path) ? 'header' : 'source';
}

/**
 * How much of a query the places of a file contain together, from 0 to 1: the square root of the share of its terms. With a proportional
 * score, a rare term would count less than two common ones. Both counts are one higher, because a file may contain only other forms of the
 * words.
 */
function coverageOf(places: readonly FoundChunk[], terms: readonly string[]): number {
  let bits = places.reduce((all, place) => all | place.terms, 0);
  let count = 1;
  for (; bits !== 0; bits &= bits - 1) count += 1;
  return Math.sqrt(count / (1 + Math.min(MOST_BITS, terms.length)));
}

function definitionsFirst(places: readonly FoundChunk[], defining: ReadonlySet<number>): readonly FoundChunk[] {
  const { true: first = [], false: others = [] } = Object.groupBy(places, ({ ordinal }) =>
    defining.has(ordinal) ? 'true' : 'false',
  );
  return [...first, ...others];
}

/**
 * Orders the places of a file, of which the first has the best score: each gains by how well the most similar name that it defines, and the
 * enclosing names, match the query. A function is often called by the words that describe it, while its body contains none of them.
 */
export function rankPlaces<T extends Place>(
  places: readonly T[],
  { terms, weights }: PlaceQuery,
  paths: PathAnalyzer,
  weight = BLEND.symbol,
): readonly T[] {
  const most = weight * (places[0]?.score ?? 0);
  const ranked = places.map((place) => {
    const { symbols, scope } = place.chunk;
    const enclosing = symbols.length === 0 ? [] : scope.flatMap((name) => paths.termsOf(name));
    const fits = symbols.map((name) => likeness({ terms, weights }, paths.termsOf(name), enclosing));
    return { place, score: place.score + most * Math.max(0, ...fits) };
  });
  return ranked.sort((a, b) => b.score - a.score).map(({ place }) => place);
}
