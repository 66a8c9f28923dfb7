import { LiveSegment } from '../segments/liveSegment.ts';
import { documentsWith, excludedDocuments, findTerms } from './queryTerms.ts';
import { type Found, Ranker } from './ranking.ts';
import { toScore } from './scorer.ts';
import { SearchedSegments } from './searchedSegments.ts';
import type { Segment, SegmentSource } from '../segments/segment.ts';
import { mergeSegments } from '../segments/segmentMerge.ts';
import type { TermQuery } from './termQuery.ts';
import { TopK } from './topK.ts';

// A merge needs memory for its result and its parts; segments of this size are large enough that there are few.
const MAX_MERGED_POSTINGS = 4_000_000;

/** A search result. */
export interface Match {
  readonly source: SegmentSource;
  /** The index of the chunk in its source, from 0. */
  readonly ordinal: number;
  readonly startLine: number;
  readonly endLine: number;
  readonly score: number;
  /** A bit for each of the query's first `MOST_BITS` terms that it contains. */
  readonly terms: number;
}

interface Place {
  readonly live: LiveSegment;
  readonly index: number;
}

/** Adjacent segments that should be merged. */
export interface Merge {
  /** Oldest first. */
  readonly parts: readonly LiveSegment[];
  /** Whether there is no older segment. */
  readonly isOldest: boolean;
  /** The approximate number of postings. */
  readonly size: number;
}

interface Without {
  readonly hidden: string;
  readonly removed: number;
  readonly live: LiveSegment;
}

/** Segments in order of age, searched as one index. For each path, the newest segment that contains it counts. */
export class SegmentSet {
  #segments: LiveSegment[] = [];
  readonly #places = new Map<string, Place>();
  readonly #overlays = new Overlays();
  /** Until the next change. */
  #searched: SearchedSegments | undefined;

  get all(): readonly LiveSegment[] {
    return this.#segments;
  }

  get documentCount(): number {
    return this.#segments.reduce((sum, { liveCount }) => sum + liveCount, 0);
  }

  /** What the index knows about a path; undefined if it was never added, or was removed. */
  source(path: string): SegmentSource | undefined {
    const place = this.#places.get(path);
    const source = place?.live.segment.sources[place.index];
    return source?.status === 'removed' ? undefined : source;
  }

  *sources(): Generator<SegmentSource, void> {
    for (const path of this.#places.keys()) {
      const source = this.source(path);
      if (source !== undefined) yield source;
    }
  }

  /** Adds a segment, whose sources replace those with the same paths. @param file the file in which it is already stored. */
  add(segment: Segment, file?: string): void {
    this.#searched = undefined;
    const live = new LiveSegment(segment, file);
    this.#segments.push(live);
    for (const [index, { path }] of segment.sources.entries()) {
      const place = this.#places.get(path);
      place?.live.remove(place.index);
      this.#places.set(path, { live, index });
    }
  }

  /** Makes searches see a segment with one source instead of the indexed version; undefined restores that. */
  overlaySegment(path: string, segment: Segment | undefined): void {
    this.#searched = undefined;
    this.#overlays.set(path, segment);
  }

  /** Merges all segments that should be merged, synchronously. */
  compact(): void {
    for (;;) {
      const merge = this.youngMerge() ?? this.cleaning();
      if (merge === undefined) return;
      this.replace(merge.parts, mergeSegments(merge.parts, merge.isOldest));
    }
  }

  /**
   * New segments to merge, extended while the segment before them is less than twice as large, so that there are few segments and a
   * source is rewritten only a few times.
   */
  youngMerge(): Merge | undefined {
    const last = this.#segments.length - 1;
    let from = last;
    let merged = sizeOf(this.#segments[last]);
    for (let at = last - 1; at >= 0; at -= 1) {
      const size = sizeOf(this.#segments[at]);
      if (size >= 2 * merged || size + merged > MAX_MERGED_POSTINGS) break;
      merged += size;
      from = at;
    }
    return from < last ? { parts: this.#segments.slice(from), isOldest: from === 0, size: merged } : undefined;
  }

  /** The newest segment of which most is removed, to be rewritten without that. */
  cleaning(): Merge | undefined {
    const at = this.#segments.findLastIndex((live) => live.removedSources.size * 2 > live.segment.sources.length);
    const live = this.#segments[at];
    return live === undefined ? undefined : { parts: [live], isOldest: at === 0, size: sizeOf(live) };
  }

  /** Replaces merged segments by the result. What was removed from them meanwhile stays removed. */
  replace(parts: readonly LiveSegment[], segment: Segment, file?: string): void {
    this.#searched = undefined;
    const from = this.#segments.findIndex((live) => live === parts[0]);
    const merged = new LiveSegment(segment, file);
    const kept = new Set<string>();
    for (const [index, { path }] of segment.sources.entries()) {
      const place = this.#places.get(path);
      if (place === undefined || !parts.includes(place.live)) merged.remove(index);
      else this.#places.set(path, { live: merged, index });
      kept.add(path);
    }
    for (const part of parts) {
      for (const { path } of part.segment.sources) {
        if (!kept.has(path) && this.#places.get(path)?.live === part) this.#places.delete(path);
      }
    }
    this.#segments.splice(from, parts.length, ...(segment.sources.length === 0 ? [] : [merged]));
  }

  /** The best `limit` documents for the query, best first; equal scores are sorted by path and position. */
  topMatches(query: TermQuery, limit: number): readonly Match[] {
    const segments = this.#current();
    if (segments.totals.documents === 0 || limit < 1) return [];
    const best = new TopK<Found>(limit, byPlace);
    const ranker = new Ranker(segments.totals, best);
    for (const { live, lists } of findTerms(segments, query)) ranker.rank(live, lists, excludedDocuments(live, query));
    return best.sorted().map(({ item, score }) => toMatch(item, toScore(score)));
  }

  /** The weight of each term in a ranking; 0 for one that no document contains. */
  weigh(terms: readonly string[]): readonly number[] {
    const segments = this.#current();
    return terms.map((term) => segments.weightOf(term));
  }

  /** The number of documents that contain a term. */
  holdersOf(term: string): number {
    return this.#current().holdersOf(term);
  }

  /** At most `most` documents that contain a term, with no score. */
  matchesOf(term: string, most: number): readonly Match[] {
    const matches: Match[] = [];
    const segments = this.#current();
    for (const at of segments.find(term).segments) {
      const live = segments.all[at];
      if (live === undefined) continue;
      for (const document of documentsWith(live, term)) {
        if (matches.length >= most) return matches;
        if (live.removed[document] !== 1) matches.push(toMatch({ live, document, terms: 0 }, 0));
      }
    }
    return matches;
  }

  /** Whether a term begins with this, in any case. */
  hasPrefix(start: string): boolean {
    const lower = start.toLowerCase();
    return this.#segments.some(({ segment }) => segment.dictionary.withPrefix(lower).next().done !== true);
  }

  /** The document of a path that contains a line, or the first one, with no score; undefined if there is none. */
  matchAt(path: string, line = 1): Match | undefined {
    for (const live of this.#current().all.toReversed()) {
      const index = live.segment.sources.findIndex((source) => source.path === path);
      const source = live.segment.sources[index];
      if (source === undefined || source.documentCount === 0 || live.removedSources.has(index)) continue;
      let document = source.firstDocument;
      const end = document + source.documentCount;
      while (document + 1 < end && (live.segment.firstLines[document + 1] ?? 0) <= line) document += 1;
      return toMatch({ live, document, terms: 0 }, 0);
    }
    return undefined;
  }

  #current(): SearchedSegments {
    this.#searched ??= new SearchedSegments(this.#overlays.over(this.#segments, (path) => this.#known(path)));
    return this.#searched;
  }

  #known(path: string): Place | undefined {
    return this.source(path) === undefined ? undefined : this.#places.get(path);
  }
}

/** The cost of rewriting. A record of a removed source has no postings, but counts as one. */
function sizeOf(live: LiveSegment | undefined): number {
  return live === undefined ? 0 : live.segment.postingCount + live.segment.sources.length;
}

function sourceOf({ live, document }: Found): SegmentSource | undefined {
  // Sources are sorted by their documents; those without any are never the last that begins at or before one.
  const { sources } = live.segment;
  let [low, high] = [0, sources.length - 1];
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if ((sources[middle]?.firstDocument ?? 0) <= document) low = middle;
    else high = middle - 1;
  }
  return sources[low];
}

function byPlace(a: Found, b: Found): number {
  const [left, right] = [sourceOf(a)?.path ?? '', sourceOf(b)?.path ?? ''];
  if (left !== right) return left < right ? -1 : 1;
  return a.document - b.document;
}

function toMatch(found: Found, score: number): Match {
  const { live, document, terms } = found;
  const source = sourceOf(found);
  if (source === undefined) throw new Error('A document has no source.');
  return {
    source,
    ordinal: document - source.firstDocument,
    startLine: live.segment.firstLines[document] ?? 0,
    endLine: live.segment.lastLines[document] ?? 0,
    score,
    terms,
  };
}

/**
 * Sources that temporarily replace those of the same path, such as the texts of unsaved editors. Only searches see them; nothing is
 * removed, merged or written because of them.
 */
class Overlays {
  readonly #segments = new Map<string, LiveSegment>();
  readonly #without = new WeakMap<LiveSegment, Without>();

  /** @param segment a segment with this source only; undefined removes the overlay. */
  set(path: string, segment: Segment | undefined): void {
    if (segment === undefined) this.#segments.delete(path);
    else this.#segments.set(path, new LiveSegment(segment));
  }

  /** The segments for a search. Paths unknown to `placeOf` are not in the index and are left out. */
  over(
    segments: readonly LiveSegment[],
    placeOf: (path: string) => { readonly live: LiveSegment; readonly index: number } | undefined,
  ): readonly LiveSegment[] {
    const hidden = new Map<LiveSegment, number[]>();
    const shown: LiveSegment[] = [];
    for (const [path, overlay] of this.#segments) {
      const place = placeOf(path);
      if (place === undefined) continue;
      hidden.set(place.live, [...(hidden.get(place.live) ?? []), place.index]);
      shown.push(overlay);
    }
    return [...segments.map((live) => this.#hide(live, hidden.get(live))), ...shown];
  }

  /** The same segment with more sources removed. Created again only after a change, because it costs time in proportion to its size. */
  #hide(live: LiveSegment, sources: readonly number[] | undefined): LiveSegment {
    if (sources === undefined) return live;
    const [hidden, removed] = [sources.join(), live.removedSources.size];
    const cached = this.#without.get(live);
    if (cached?.hidden === hidden && cached.removed === removed) return cached.live;
    const copy = new LiveSegment(live.segment, live.file);
    for (const source of [...live.removedSources, ...sources]) copy.remove(source);
    this.#without.set(live, { hidden, removed, live: copy });
    return copy;
  }
}
