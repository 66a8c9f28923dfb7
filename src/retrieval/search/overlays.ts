import { LiveSegment } from '../segments/liveSegment.ts';
import type { Segment } from '../segments/segment.ts';

interface Without {
  readonly hidden: string;
  readonly removed: number;
  readonly live: LiveSegment;
}

/**
 * Sources that temporarily replace those of the same path, such as the texts of unsaved editors. Only searches see them; nothing is
 * removed, merged or written because of them.
 */
export class Overlays {
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
    const known = this.#without.get(live);
    if (known?.hidden === hidden && known.removed === removed) return known.live;
    const copy = new LiveSegment(live.segment, live.file);
    for (const source of [...live.removedSources, ...sources]) copy.remove(source);
    this.#without.set(live, { hidden, removed, live: copy });
    return copy;
  }
}
