import { AppError } from '../../core/errors.ts';
import type { Segment } from './segment.ts';
import { readTermsSync, type SegmentTerms } from './segmentFile.ts';

/** A segment that was written to a file, and whose terms are read from it when a search or a merge needs them. */
export class StoredSegment implements Segment {
  readonly sources: Segment['sources'];
  readonly lengths: Uint16Array;
  readonly firstLines: Uint32Array;
  readonly lastLines: Uint32Array;
  readonly postingCount: number;
  readonly #file: string;
  #terms: SegmentTerms | undefined;

  constructor({ sources, lengths, firstLines, lastLines, postingCount }: Segment, file: string) {
    this.sources = sources;
    this.lengths = lengths.slice(); // they are a part of all the bytes of the file
    this.firstLines = firstLines;
    this.lastLines = lastLines;
    this.postingCount = postingCount;
    this.#file = file;
  }

  /** @throws AppError `corrupt` if the file does not exist or is damaged. */
  get dictionary(): Segment['dictionary'] {
    return this.#read().dictionary;
  }

  /** @throws AppError `corrupt` if the file does not exist or is damaged. */
  get postings(): Uint8Array {
    return this.#read().postings;
  }

  #read(): SegmentTerms {
    this.#terms ??= readTermsSync(this.#file);
    if (this.#terms === undefined)
      throw new AppError('corrupt', 'The search index was damaged or removed. Search again to have it built again.');
    return this.#terms;
  }
}
