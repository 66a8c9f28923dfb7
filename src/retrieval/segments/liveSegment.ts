import { PostingList } from './postingList.ts';
import { countPostings } from './postings.ts';
import type { Segment } from './segment.ts';

/** A segment, and which of its sources were changed or removed since it was built. */
export class LiveSegment {
  readonly segment: Segment;
  /** 1 for each removed document. */
  readonly removed: Uint8Array;
  readonly removedSources = new Set<number>();
  liveCount: number;
  /** The number of words in the remaining documents. */
  liveLength = 0;
  /** The file in which it is stored, once it was written. */
  file: string | undefined;

  constructor(segment: Segment, file?: string) {
    this.segment = segment;
    this.file = file;
    this.removed = new Uint8Array(segment.lengths.length);
    this.liveCount = segment.lengths.length;
    for (const length of segment.lengths) this.liveLength += length;
  }

  remove(source: number): void {
    const { firstDocument = 0, documentCount = 0 } = this.segment.sources[source] ?? {};
    if (this.removedSources.has(source)) return;
    this.removedSources.add(source);
    for (let document = firstDocument; document < firstDocument + documentCount; document += 1) {
      this.removed[document] = 1;
      this.liveLength -= this.segment.lengths[document] ?? 0;
    }
    this.liveCount -= documentCount;
  }

  /**
   * The number of remaining documents that contain the term. Ranking needs the exact number; otherwise it would change when a merge drops
   * removed documents. Only blocks with removed documents are decoded.
   */
  countHolders(start: number): number {
    const { postings } = this.segment;
    if (this.removedSources.size === 0) return countPostings(postings, start);
    const list = new PostingList();
    list.open(postings, start);
    let { count } = list;
    let document = list.advance(this.#nextRemoved(0));
    while (document < this.removed.length) {
      if (this.removed[document] === 1) {
        count -= 1;
        document = list.advance(document + 1);
      } else {
        document = list.advance(this.#nextRemoved(document + 1));
      }
    }
    return count;
  }

  #nextRemoved(from: number): number {
    const next = this.removed.indexOf(1, from);
    return next === -1 ? this.removed.length : next;
  }
}
