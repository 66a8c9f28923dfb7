import type { Chunk } from '../chunks/chunk.ts';
import { BLEND } from './weights.ts';
import { likeness, type PathAnalyzer } from './pathTerms.ts';

interface Place {
  readonly chunk: Pick<Chunk, 'symbols' | 'scope'>;
  readonly score: number;
}

interface PlaceQuery {
  readonly terms: readonly string[];
  /** The weight of each term. */
  readonly weights: readonly number[];
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
